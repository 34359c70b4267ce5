import { type IncomingMessage, type Server, ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CODES } from '../domain/codes.ts';
import { type Answer, failure } from '../protocol/answers.ts';

/**
 * Ends a connection whose data is not HTTP or did not arrive in time, with an error in the protocol's form.
 * While an earlier request on it is handled, nothing is written: it would pass for that one's answer (I2).
 */
export function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const owesAnswer = answerOn(socket)?.req.complete === true;
  if (socket.writable && !owesAnswer) socket.write(written(answerTo(error.code)));
  socket.destroy();
}

const HOSTLESS = failure(CODES.validation, 'The request has no Host header', 400);

/** The same for HTTP/1.1 without `Host`: Node's own empty 400 might pass for a decline. */
export function hostlessRefusal({ httpVersion, headers }: IncomingMessage): Answer | undefined {
  return httpVersion === '1.1' && headers.host === undefined ? HOSTLESS : undefined;
}

/** Answers that at once: a body that has arrived would be parsed before a promise resolves. */
export function refuseHostless(
  { raw }: FastifyRequest,
  reply: FastifyReply,
  done: () => void,
): void {
  const refusal = hostlessRefusal(raw);
  if (refusal === undefined) {
    done();
    return;
  }
  const headers = { 'content-type': 'application/json', connection: 'close' };
  void reply.code(refusal.status).headers(headers).send(refusal.body);
}

/**
 * Treats an unknown `Expect` like any other request: Node would answer 417 in its own form, without the body's
 * limits (I1, I7).
 */
export function passOverExpectations(server: Server): void {
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}

/** The answer to the request that is being handled on a connection, if there is one. */
export function answerOn(socket: Socket & { readonly _httpMessage?: unknown }) {
  const { _httpMessage: answer } = socket;
  return answer instanceof ServerResponse ? answer : undefined;
}

function answerTo(code: string | undefined): Answer {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return failure(CODES.validation, 'The request did not arrive in time', 408);
    case 'HPE_HEADER_OVERFLOW':
      return failure(CODES.validation, 'The headers are too long', 431);
    default:
      return failure(CODES.validation, 'The request is not HTTP', 400);
  }
}

function written({ status, body }: Answer): string {
  const headers = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  return `${headers.join('\r\n')}\r\n\r\n${body}`;
}
