import {
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { BonusMethod } from '../../../src/bonuses/method-names.ts';
import { JsonError, parseJsonObject } from '../../../src/protocol/json.ts';
import { type SignatureVerdict, type SigningKey, verify } from '../../../src/protocol/signature.ts';
import { failure, type WireAnswer } from '../wallet/answers.ts';
import { send } from '../wallet/delivery.ts';
import { methodAt } from './methods.ts';
import { type BonusCall, readBonusCall } from './requests.ts';

/** A partner as the service knows one, its secrets made ready. */
export interface PartnerKeys {
  readonly cid: string;
  readonly keys: readonly SigningKey[];
}

/** A request exactly as it came, whatever it was worth. */
export interface BonusRequest {
  /** Which of the seven; `undefined`: the path is none of theirs. */
  readonly method: BonusMethod | undefined;
  readonly httpMethod: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The bytes that the signature has to be over. */
  readonly bytes: Buffer;
  /** The same as text. */
  readonly body: string;
  /** Whether any partner signed these bytes. */
  readonly signature: SignatureVerdict;
  /** The partners whose secrets verify the signature. */
  readonly signedBy: readonly string[];
  /** On the monotonic clock, when the body was complete. */
  readonly atMs: number;
}

export interface BonusHttpOptions {
  /** Asked at every request, so that secrets can be rotated while running. */
  readonly partners: () => readonly PartnerKeys[];
  readonly nowMs: () => number;
  readonly record: (request: BonusRequest) => void;
  /** Answers a call whose signature and shape are good. */
  readonly serve: (call: BonusCall, response: ServerResponse) => void;
}

const BAD_SIGNATURE = 1;
const VALIDATION = 5;

/** The bonus API's edge: bytes in, the signature over exactly those, then the call. */
export function createBonusHttp(options: BonusHttpOptions): Server {
  const server = createServer((message, response) => {
    const chunks: Buffer[] = [];
    message.on('data', (chunk: Buffer) => chunks.push(chunk));
    message.on('end', () => {
      const { method: httpMethod = '', url: path = '', headers } = message;
      const bytes = Buffer.concat(chunks);
      const request = { httpMethod, path, headers, bytes, atMs: options.nowMs() };
      const seen = seenBy(options.partners(), request);
      options.record(seen);
      const result = examine(seen);
      if (result.kind === 'call') options.serve(result.call, response);
      else send(response, result.answer);
    });
    // The caller broke off: nothing was received, so there is nothing to do or to answer.
    message.on('error', () => response.destroy());
  });
  // Longer than any caller keeps an idle connection: it must not close under a call.
  server.keepAliveTimeout = 120_000;
  return server;
}

type Arrived = Pick<BonusRequest, 'httpMethod' | 'path' | 'headers' | 'bytes' | 'atMs'>;

function seenBy(partners: readonly PartnerKeys[], arrived: Arrived): BonusRequest {
  const { path, headers, bytes } = arrived;
  const jws = headers['x-sign-jws'];
  const allKeys = partners.flatMap(({ keys }) => keys);
  const signedBy = partners.filter(({ keys }) => verify(jws, bytes, keys).ok).map(({ cid }) => cid);
  return {
    ...arrived,
    method: methodAt(path.split('?', 1)[0] ?? ''),
    body: bytes.toString('utf8'),
    signature: verify(jws, bytes, allKeys),
    signedBy,
  };
}

type Examined =
  | { readonly kind: 'call'; readonly call: BonusCall }
  | { readonly kind: 'refused'; readonly answer: WireAnswer };

function examine(request: BonusRequest): Examined {
  const { method, httpMethod, bytes, signature, signedBy } = request;
  if (method === undefined) return refused({ status: 404, body: '' });
  if (httpMethod !== 'POST') return refused({ status: 405, body: '' });
  if (!signature.ok) return unsigned();
  try {
    const call = readBonusCall(method, parseJsonObject(bytes));
    // One partner's signature under another's key is nobody's.
    return signedBy.includes(call.cid) ? { kind: 'call', call } : unsigned();
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const { field, message } = error;
    return refused(failure(VALIDATION, field === undefined ? message : `${field} ${message}`));
  }
}

function unsigned(): Examined {
  return refused({ ...failure(BAD_SIGNATURE, 'Invalid signature'), status: 401 });
}

function refused(answer: WireAnswer): Examined {
  return { kind: 'refused', answer };
}
