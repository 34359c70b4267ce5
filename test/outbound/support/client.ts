import type { Server, Socket } from 'node:net';
import { systemClock } from '../../../src/domain/clock.ts';
import type { Exchange } from '../../../src/outbound/http-call.ts';
import { HttpClient, type HttpClientOptions } from '../../../src/outbound/http-client.ts';
import type { HttpRequest } from '../../../src/outbound/http-message.ts';
import { deadlineIn } from '../../wallets/support/calls.ts';
import { AUTHORITY } from '../../wallets/support/private-authority.ts';
import {
  type RawRequest,
  type RawWallet,
  startRawWallet,
  type Wire,
} from '../../wallets/support/raw-wallet.ts';

export const KIB = 1024;

export const opened: { close(): Promise<void> }[] = [];

/** For `afterEach`. */
export async function closeOpened(): Promise<void> {
  await Promise.all(opened.splice(0).map((one) => one.close()));
}

export async function wallet(
  onRequest: (request: RawRequest, index: number) => void,
  wire: Wire = 'tcp',
): Promise<RawWallet> {
  const server = await startRawWallet(onRequest, wire);
  opened.push(server);
  return server;
}

export function client(origin: string, changes: Partial<HttpClientOptions> = {}): HttpClient {
  const made = new HttpClient({
    clock: systemClock,
    origin,
    allowPrivate: true,
    tls: { ca: AUTHORITY },
    timeoutMs: 4000,
    connections: 4,
    ...changes,
  });
  opened.unshift(made);
  return made;
}

export function post(changes: Partial<HttpRequest> = {}): HttpRequest {
  return {
    method: 'POST',
    path: '/payment/bet',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from('{"transactionId":"t1"}'),
    answerBytesMax: 64 * KIB,
    ...changes,
  };
}

export function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

export async function exchangeWith(
  onRequest: (socket: Socket) => void,
  { limitMs = 3000, wire = 'tcp' }: { readonly limitMs?: number; readonly wire?: Wire } = {},
): Promise<{ exchange: Exchange; server: RawWallet; tookMs: number }> {
  const server = await wallet(({ socket }) => onRequest(socket), wire);
  const startedAt = performance.now();
  const exchange = await client(server.origin).exchange(post(), deadlineIn(limitMs));
  return { exchange, server, tookMs: performance.now() - startedAt };
}
