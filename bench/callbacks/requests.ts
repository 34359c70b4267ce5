import { balanceBody, placeBody } from '../../src/protocol/callback-bodies.ts';
import { type SigningKey, sign, signingKeys } from '../../src/protocol/signature.ts';
import type { ServicePlayer } from '../../tools/simulator/service.ts';
import type { LoadJob } from './load-job.ts';

export interface SignedRequest {
  readonly transactionId: string;
  readonly body: Buffer;
  readonly signature: string;
}

/** The properties of requests: their players and their operation. */
export type Requests = Pick<LoadJob, 'operation' | 'prefix' | 'players' | 'secret'>;

/** The job's requests, made and signed before the measurement. */
export function prepare(job: LoadJob): SignedRequest[] {
  const { bets: count, connections } = job;
  const make = requestMaker(job);
  // A broken connection loses its bet and goes on with another.
  return Array.from({ length: count + connections }, (_, n) => make(n));
}

/** @returns makes and signs the request with a given number */
export function requestMaker({ operation, prefix, players, secret }: Requests) {
  const [key] = signingKeys([secret]);
  if (key === undefined) throw new Error('a secret gives a key');
  return (n: number): SignedRequest => {
    const player = players[n % players.length];
    if (player === undefined) throw new Error('no players');
    const transactionId = `${prefix}${n}`;
    const text = operation === 'place' ? placeText(transactionId, player) : balanceBody(player);
    return signed(transactionId, text, key);
  };
}

/** The whole request as bytes. */
export function requestBytes(
  { host, pathname }: URL,
  { body, signature }: Pick<SignedRequest, 'body' | 'signature'>,
): Buffer {
  const head = [
    `POST ${pathname} HTTP/1.1`,
    `Host: ${host}`,
    'Content-Type: application/json',
    `x-sign-jws: ${signature}`,
    `Content-Length: ${body.length}`,
    '\r\n',
  ].join('\r\n');
  return Buffer.concat([Buffer.from(head), body]);
}

function placeText(transactionId: string, player: ServicePlayer): string {
  const slip = { transactionId, ...player, amount: '12.10', coefficient: '1.85' };
  return placeBody({ ...slip, bonusId: null, bonusTemplateId: null });
}

function signed(transactionId: string, text: string, key: SigningKey): SignedRequest {
  const body = Buffer.from(text);
  return { transactionId, body, signature: sign(body, key) };
}
