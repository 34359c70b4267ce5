import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { sign, signingKeys } from '../../src/protocol/signature.ts';
import { SERVICE_SECRET } from './gateway.ts';

/** The bytes of a callback, signed by the service. */
export function callbackBytes(method: 'POST' | 'PUT', path: string, body: string): string {
  const [key] = signingKeys([SERVICE_SECRET]);
  if (key === undefined) throw new Error('a secret makes a key');
  return (
    `${method} ${path} HTTP/1.1\r\nhost: x\r\n` +
    `content-length: ${Buffer.byteLength(body)}\r\nx-sign-jws: ${sign(body, key)}\r\n\r\n${body}`
  );
}

/** A connection that its caller can end on one side only. */
export async function rawConnection(baseUrl: string): Promise<Socket> {
  const port = Number(new URL(baseUrl).port);
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  await once(socket, 'connect');
  return socket.setEncoding('utf8');
}
