import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { Operation } from '../../../src/domain/operation.ts';

/** A call as it reached a test's own wallet. */
export interface OwnCall {
  readonly operation: Operation;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The body exactly as it came. */
  readonly text: string;
  readonly json: Readonly<Record<string, unknown>>;
}

/** The wallet's answer; `drop`: the connection breaks without one. */
export type OwnAnswer =
  | 'drop'
  | {
      readonly status: number;
      readonly body?: string | object;
      readonly headers?: Readonly<Record<string, string>>;
    };

/** A wallet that does whatever its test says, for behaviour that breaks the protocol. */
export interface OwnWallet {
  readonly baseUrl: string;
  /** All calls in order, however they were answered. */
  readonly calls: readonly OwnCall[];
  /** The calls about one bet. */
  callsOf(transactionId: string): readonly OwnCall[];
  close(): Promise<void>;
}

export async function startOwnWallet(answer: (call: OwnCall) => OwnAnswer): Promise<OwnWallet> {
  const calls: OwnCall[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const text = Buffer.concat(chunks).toString('utf8');
      const json: OwnCall['json'] = JSON.parse(text);
      const call = { operation: operationOf(method, path, json), path, headers, text, json };
      calls.push(call);
      const said = answer(call);
      if (said === 'drop') {
        request.socket.destroy();
        return;
      }
      const body = typeof said.body === 'object' ? JSON.stringify(said.body) : (said.body ?? '');
      response.writeHead(said.status, { 'content-type': 'application/json', ...said.headers });
      response.end(body);
    });
  });
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    baseUrl: `http://127.0.0.1:${address.port}`,
    calls,
    callsOf: (transactionId) => calls.filter(({ json }) => json.transactionId === transactionId),
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** The protocol's good answer to a bet call. */
export function good(call: OwnCall): OwnAnswer {
  return {
    status: 200,
    body: { transactionId: call.json.transactionId, transactionTime: '2026-01-02T03:04:05Z' },
  };
}

function operationOf(
  method: string,
  path: string,
  { type }: Readonly<Record<string, unknown>>,
): Operation {
  if (path.includes('profile')) return 'profile';
  if (path.includes('balance')) return 'balance';
  if (type === 2) return 'settle';
  if (type === 3) return 'rollback';
  if (type === 5) return 'update';
  return method === 'POST' ? 'place' : 'unsettle';
}
