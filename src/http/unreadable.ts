import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CODES } from '../domain/codes.ts';
import { type Answer, failure } from '../protocol/answers.ts';

/**
 * Ends a connection on which came what cannot be read as HTTP, or not in time: with an error in the
 * protocol's own form, because nothing was made of it.
 *
 * @param error of Node's `clientError`
 * @param owesAnswer a request that came before on this connection is being carried out. Whatever is
 *   written now would pass for its answer, and 400 for a decline of a bet that a wallet may take:
 *   nothing is said, so that the service knows that it does not know (I2)
 */
export function refuseUnreadable(
  error: NodeJS.ErrnoException,
  socket: Socket,
  owesAnswer: boolean,
): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  if (socket.writable && !owesAnswer) socket.write(written(answerTo(error.code)));
  socket.destroy();
}

/**
 * The same for a request of HTTP/1.1 without `Host` (RFC 9112, 3.2), which is read whole: Node's own answer to it
 * is an empty 400, and of that nobody knows whether it is a decline. Waits for nothing: all that has arrived of a
 * body would be parsed before a promise of it is kept.
 */
export function refuseHostless(
  request: FastifyRequest,
  reply: FastifyReply,
  done: () => void,
): void {
  const { httpVersion, headers } = request.raw;
  if (httpVersion !== '1.1' || headers.host !== undefined) {
    done();
    return;
  }
  const { status, body } = failure(CODES.validation, 'The request has no Host header', 400);
  void reply
    .code(status)
    .headers({ 'content-type': 'application/json', connection: 'close' })
    .send(body);
}

/**
 * A request that expects what nobody here knows (`Expect`; RFC 9110, 10.1.1) is a request like any other. Node answers
 * 417 past everything that listens for requests: in no form of ours, whatever its body costs, and the next request on
 * its connection, which a proxy may bring for somebody else, would seem to have begun with this one (I1, I7).
 */
export function passOverExpectations(server: Server): void {
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
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
