import {
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import { BONUS_METHODS, type BonusMethod } from '../../../src/bonuses/method-names.ts';
import { JsonError, parseJsonObject } from '../../../src/protocol/json.ts';
import { type SignatureVerdict, type SigningKey, verify } from '../../../src/protocol/signature.ts';
import { failure, type WireAnswer } from '../wallet/answers.ts';
import { send } from '../wallet/delivery.ts';
import { type BonusCall, readBonusCall } from './requests.ts';

/** A partner as the service knows one, with its keys prepared. */
export interface PartnerKeys {
  readonly cid: string;
  readonly keys: readonly SigningKey[];
}

/** A request exactly as it came, valid or not. */
export interface BonusRequest {
  /** One of the seven methods; `undefined`: the path is none of theirs. */
  readonly method: BonusMethod | undefined;
  readonly httpMethod: string;
  /** With its query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The bytes that the signature must cover. */
  readonly bytes: Buffer;
  /** The same bytes as text. */
  readonly body: string;
  /** Whether any partner signed these bytes. */
  readonly signature: SignatureVerdict;
  /** The partners whose secrets verify the signature. */
  readonly signedBy: readonly string[];
  /** On the monotonic clock, when the body was complete. */
  readonly atMs: number;
}

export interface BonusHttpOptions {
  /** Called for every request, so that secrets can be rotated while running. */
  readonly partners: () => readonly PartnerKeys[];
  readonly nowMs: () => number;
  readonly record: (request: BonusRequest) => void;
  /** Answers a call whose signature and shape are valid. */
  readonly serve: (call: BonusCall, response: ServerResponse) => void;
}

const BAD_SIGNATURE = 1;
const VALIDATION = 5;

/**
 * The HTTP side of the bonus API: reads the bytes, verifies the signature over exactly those, then reads the call.
 */
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
    // The caller hung up: nothing was received, so there is nothing to do or to answer.
    message.on('error', () => response.destroy());
  });
  // Longer than any caller keeps an idle connection: the server must not close one that is being used.
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
    method: BONUS_METHODS.find((one) => path.split('?', 1)[0] === `/bonuses/${one}`),
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
    // A signature by one partner under another's key counts as unsigned.
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
