import { createServer, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { SERVER } from './private-authority.ts';

/** The transport of a wallet; over TLS it has a certificate of the tests' private authority. */
export type Wire = 'tcp' | 'tls';

/** One request as it was on the wire. */
export interface RawRequest {
  readonly line: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** The connection on which it came, to answer it or misuse it. */
  readonly socket: Socket;
}

export interface RawWallet {
  readonly origin: string;
  readonly port: number;
  /** Every request that arrived completely, in order. */
  readonly requests: readonly RawRequest[];
  /** The number of connections ever opened. */
  readonly connections: number;
  /** Bytes received on all connections, from complete requests or not. */
  readonly bytes: number;
  /** Waits for the request with this number, counted from 1. */
  arrived(number: number): Promise<RawRequest>;
  close(): Promise<void>;
}

/**
 * A wallet on a bare port: it reads HTTP requests and leaves everything else to the test, including the answer.
 * `index` counts requests from 0.
 */
export async function startRawWallet(
  onRequest: (request: RawRequest, index: number) => void,
  wire: Wire = 'tcp',
): Promise<RawWallet> {
  const requests: RawRequest[] = [];
  const sockets = new Set<Socket>();
  const waiting = new Map<number, (request: RawRequest) => void>();
  let connections = 0;
  let bytes = 0;
  const server = createServer((tcp) => {
    connections += 1;
    const socket = wire === 'tcp' ? tcp : secured(tcp);
    sockets.add(socket);
    let received = Buffer.alloc(0);
    socket.on('close', () => sockets.delete(socket));
    // A test that resets or ends a connection does not care how the other side reacts.
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      bytes += chunk.length;
      received = Buffer.concat([received, chunk]);
      for (;;) {
        const parsed = parseRequest(received, socket);
        if (parsed === undefined) return;
        received = received.subarray(parsed.length);
        requests.push(parsed.request);
        waiting.get(requests.length)?.(parsed.request);
        onRequest(parsed.request, requests.length - 1);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const { port } = address;
  return {
    origin: `${wire === 'tcp' ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    requests,
    get connections() {
      return connections;
    },
    get bytes() {
      return bytes;
    },
    arrived: (number) => {
      const there = requests[number - 1];
      if (there !== undefined) return Promise.resolve(there);
      return new Promise((resolve) => waiting.set(number, resolve));
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const IDENTITY = createSecureContext(SERVER);

function secured(tcp: Socket): TLSSocket {
  const socket = new TLSSocket(tcp, { isServer: true, secureContext: IDENTITY });
  // A TLS socket cannot do that itself.
  socket.resetAndDestroy = () => {
    tcp.resetAndDestroy();
    return socket;
  };
  return socket;
}

function parseRequest(
  received: Buffer,
  socket: Socket,
): { request: RawRequest; length: number } | undefined {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd === -1) return undefined;
  const [line = '', ...fields] = received.subarray(0, headEnd).toString('latin1').split('\r\n');
  const headers = Object.fromEntries(
    fields.map((field) => {
      const colon = field.indexOf(':');
      return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
    }),
  );
  const bodyStart = headEnd + 4;
  const length = bodyStart + Number(headers['content-length'] ?? 0);
  if (received.length < length) return undefined;
  const body = Buffer.from(received.subarray(bodyStart, length));
  return { request: { line, headers, body, socket }, length };
}

/** A complete answer that leaves the connection open. */
export function reply(socket: Socket, status: number, body: string, more = ''): void {
  const length = Buffer.byteLength(body);
  socket.write(
    `HTTP/1.1 ${status} Some Reason\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n${more}\r\n${body}`,
  );
}

/** A good answer to the bet call. */
export function replyAccepted({ socket, body }: RawRequest): void {
  const { transactionId } = JSON.parse(body.toString());
  reply(socket, 200, JSON.stringify({ transactionId, transactionTime: '2026-01-02T03:04:05Z' }));
}
