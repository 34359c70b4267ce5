import { once } from 'node:events';
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { unreachable } from '../../../src/domain/unreachable.ts';
import { jsonString } from '../../../src/protocol/json.ts';
import { accepted, type WireAnswer } from './answers.ts';
import type { Misbehaviour } from './misbehaviour.ts';

const HUGE_BYTES = 200_000_000;
const HUGE_CHUNK = Buffer.alloc(64 * 1024, 'a');
const TRICKLE_INTERVAL_MS = 100;

/** Writes an answer as a well-behaved wallet does. */
export function send(response: ServerResponse, answer: WireAnswer): void {
  if (response.destroyed) return;
  const length = Buffer.byteLength(answer.body);
  const type = { 'content-type': 'application/json', 'content-length': length };
  response.writeHead(answer.status, { ...type, ...answer.headers }).end(answer.body);
}

/**
 * Sends an answer as the misbehaviour says; resolves when nothing more will be written.
 * @param answer the good answer, or if the call was not booked, one that only looks good
 */
export async function sendBadly(
  response: ServerResponse,
  misbehaviour: Misbehaviour,
  answer: WireAnswer,
  transactionId: string,
  path: string,
): Promise<void> {
  if (response.destroyed) return;
  switch (misbehaviour.kind) {
    case 'hang':
    case 'lateDebit':
      return;
    case 'delay':
      await pause(response, misbehaviour.ms);
      return send(response, answer);
    case 'trickle': {
      const { part = 'body', intervalMs = TRICKLE_INTERVAL_MS } = misbehaviour;
      return await trickle(response, answer, part, intervalMs);
    }
    case 'reset':
      return misbehaviour.partial === true ? breakOff(response, answer) : reset(response);
    case 'huge':
      return await flood(response, misbehaviour.bytes ?? HUGE_BYTES);
    case 'redirect': {
      const location = misbehaviour.location ?? `${path}?redirected`;
      return send(response, { status: 307, body: '', headers: { location } });
    }
    case 'html': {
      const body = '<html><body><h1>Welcome to nginx</h1></body></html>';
      return send(response, { status: 200, body, headers: { 'content-type': 'text/html' } });
    }
    case 'empty':
      return send(response, { status: 200, body: '' });
    case 'wrongTransactionId': {
      if (answer.status !== 200) return send(response, answer);
      const other = misbehaviour.transactionId ?? `transaction_${transactionId}`;
      return send(response, accepted(other, new Date().toISOString()));
    }
    case 'badTransactionTime':
      if (answer.status !== 200) return send(response, answer);
      return send(response, accepted(transactionId, misbehaviour.value ?? '05/03/2021 11:08'));
    case 'status': {
      const { status, body = '', headers = {} } = misbehaviour;
      return send(response, { status, body, headers });
    }
    case 'code': {
      const { code, message = 'The wallet was told to say so' } = misbehaviour;
      const body = `{"code":${code},"message":${jsonString(message)}}`;
      return send(response, { status: 400, body });
    }
    case 'codeMissing':
      return send(response, { status: 400, body: '{"message":"Something went wrong"}' });
  }
  return unreachable(misbehaviour);
}

function reset(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
}

/** Announces a length, sends half of it, and hangs up. */
function breakOff(response: ServerResponse, answer: WireAnswer): void {
  const body = Buffer.from(answer.body);
  response.writeHead(answer.status, { 'content-length': body.length });
  response.write(body.subarray(0, Math.ceil(body.length / 2)), () => response.socket?.destroy());
}

async function trickle(
  response: ServerResponse,
  answer: WireAnswer,
  part: 'head' | 'body',
  intervalMs: number,
): Promise<void> {
  const socket = response.socket;
  if (socket === null) return;
  const body = Buffer.from(answer.body);
  const head = Buffer.from(
    `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ''}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n`,
  );
  // Bypasses node:http, which cannot send a head in pieces.
  const slow = part === 'head' ? Buffer.concat([head, body]) : body;
  if (part === 'body') socket.write(head);
  for (const byte of slow) {
    await pause(response, intervalMs);
    if (socket.destroyed) return;
    socket.write(Buffer.of(byte));
  }
  socket.end();
}

async function flood(response: ServerResponse, bytes: number): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"transactionId":"');
  for (let sent = 0; sent < bytes && !response.destroyed; sent += HUGE_CHUNK.length) {
    if (!response.write(HUGE_CHUNK)) await drained(response);
  }
  response.end('"}');
}

async function drained(response: ServerResponse): Promise<void> {
  const away = new AbortController();
  const { signal } = away;
  await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })]);
  away.abort();
}

/** Waits, but not for a caller that has hung up. */
function pause(response: ServerResponse, ms: number): Promise<void> {
  const socket: Socket | null = response.socket;
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      socket?.off('close', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    socket?.once('close', done);
  });
}
