import { createServer, type Server, type ServerResponse } from 'node:http';
import { type SignatureVerdict, type SigningKey, verify } from '../../../src/protocol/signature.ts';
import { failure, type WireAnswer } from './answers.ts';
import { readCall, type WalletCall, type WalletPath } from './calls.ts';
import { send } from './delivery.ts';
import type { RecordedRequest } from './recorder.ts';

/** Whether a request counts as signed. */
export type SignatureJudge = (
  request: Pick<RecordedRequest, 'headers' | 'body'>,
  keys: readonly SigningKey[],
) => SignatureVerdict;

/** The protocol's own rule: `x-sign-jws` over the raw body. */
export const judgeSignature: SignatureJudge = ({ headers, body }, keys) => {
  const jws = headers['x-sign-jws'];
  return verify(typeof jws === 'string' ? jws : undefined, body, keys);
};

export interface WalletHttpOptions {
  /** The full path of each of the wallet's three addresses. */
  readonly paths: Readonly<Record<WalletPath, string>>;
  /** Called for every request, so that secrets can be rotated while running. */
  readonly keys: () => readonly SigningKey[];
  /** How signatures are judged; default: as the protocol says. */
  readonly judge?: SignatureJudge | undefined;
  /** Changes the answer to a request that is refused before it is read as a call. */
  readonly rewriteRefused?: ((answer: WireAnswer) => WireAnswer) | undefined;
  readonly nowMs: () => number;
  readonly record: (request: RecordedRequest) => void;
  /** Answers a call whose signature and shape are valid. */
  readonly serve: (call: WalletCall, response: ServerResponse, path: string) => void;
}

/** The wallet's HTTP side: verifies the signature over the bytes, then reads the call. */
export function createWalletHttp(options: WalletHttpOptions): Server {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const recorded = {
        method,
        path: url,
        headers,
        body: Buffer.concat(chunks),
        atMs: options.nowMs(),
      };
      options.record(recorded);
      const seen = examine(options, recorded);
      if (seen.kind === 'call') options.serve(seen.call, response, seen.path);
      else send(response, options.rewriteRefused?.(seen.answer) ?? seen.answer);
    });
    // The caller hung up: nothing was received, so there is nothing to do or to answer.
    request.on('error', () => response.destroy());
  });
  // Longer than any caller keeps an idle connection: a good operator does not close one that is being used.
  server.keepAliveTimeout = 120_000;
  return server;
}

type Seen =
  | { readonly kind: 'call'; readonly call: WalletCall; readonly path: string }
  | { readonly kind: 'refused'; readonly answer: WireAnswer };

function examine(options: WalletHttpOptions, request: RecordedRequest): Seen {
  const { method, body } = request;
  const path = request.path.split('?', 1)[0] ?? '';
  const kind = kindOf(options.paths, path);
  if (kind === undefined) return refused({ status: 404, body: '' });
  if (method !== 'POST' && !(kind === 'bet' && method === 'PUT')) {
    return refused({ status: 405, body: '' });
  }
  const { judge = judgeSignature } = options;
  const verdict = judge(request, options.keys());
  if (!verdict.ok) return refused(failure(1, `Invalid signature: ${verdict.reason}`));
  const read = readCall(kind, method, body);
  return read.ok ? { kind: 'call', call: read.call, path } : refused(failure(5, read.why));
}

function refused(answer: WireAnswer): Seen {
  return { kind: 'refused', answer };
}

function kindOf(paths: WalletHttpOptions['paths'], path: string): WalletPath | undefined {
  if (path === paths.bet) return 'bet';
  if (path === paths.balance) return 'balance';
  return path === paths.profile ? 'profile' : undefined;
}
