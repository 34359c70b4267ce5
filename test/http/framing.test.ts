import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

/**
 * A proxy and the gateway have to agree on where a request ends. If they did not, a stranger's bytes would begin the next
 * request on a connection that the service's callbacks share, and its answer would pass for theirs.
 */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.close());

/** Everything that is answered to these bytes, which a second request follows, until the gateway closes. */
async function saidTo(bytes: string): Promise<string> {
  const socket = connect(Number(new URL(gateway.baseUrl).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => socket.destroy());
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  socket.write(`${bytes}GET /smuggled HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`, 'latin1');
  await once(socket, 'close');
  return text;
}

const START = 'POST /user/balance HTTP/1.1\r\nhost: x\r\n';
const withHeaders = (lines: string, body = '{}') => `${START}${lines}\r\n\r\n${body}`;
const chunked = (body: string) => withHeaders('transfer-encoding: chunked', body);

it.each([
  ['a length and chunks', withHeaders('content-length: 2\r\ntransfer-encoding: chunked')],
  ['chunks and a length', withHeaders('transfer-encoding: chunked\r\ncontent-length: 2')],
  ['two lengths', withHeaders('content-length: 2\r\ncontent-length: 3')],
  ['one length twice', withHeaders('content-length: 2\r\ncontent-length: 2')],
  ['a list of lengths', withHeaders('content-length: 2, 2')],
  ['a length with a sign', withHeaders('content-length: +2')],
  ['a hexadecimal length', withHeaders('content-length: 0x2')],
  ['a length with a blank in it', withHeaders('content-length: 1 2')],
  ['a length on a folded line', withHeaders('content-length:\r\n 2')],
  ['a blank before the colon of a length', withHeaders('content-length : 2')],
  ['a blank before the colon of chunks', withHeaders('transfer-encoding : chunked')],
  ['chunks on a folded line', withHeaders('transfer-encoding:\r\n chunked')],
  ['chunks with a vertical tab', withHeaders('transfer-encoding: \vchunked')],
  ['almost chunks', withHeaders('transfer-encoding: xchunked')],
  ['chunks that are not the last coding', withHeaders('transfer-encoding: chunked, identity')],
  [
    'chunks and another coding apart',
    withHeaders('transfer-encoding: chunked\r\ntransfer-encoding: x'),
  ],
  ['a header without a colon', withHeaders('content-length')],
  ['a header that begins with a blank', `POST / HTTP/1.1\r\n host: x\r\n\r\n`],
  ['a bare LF between headers', withHeaders('a: b\ncontent-length: 2')],
  ['a bare CR in a header', withHeaders('a: b\rcontent-length: 2')],
  ['a NUL in a header', withHeaders('a: \0b\r\ncontent-length: 2')],
  ['a chunk’s length with a sign', chunked('+2\r\n{}\r\n0\r\n\r\n')],
  ['a chunk’s length with 0x', chunked('0x2\r\n{}\r\n0\r\n\r\n')],
  ['a chunk’s length with a blank', chunked('2 \r\n{}\r\n0\r\n\r\n')],
  ['a chunk’s length of 2^64 and 2', chunked('10000000000000002\r\n{}\r\n0\r\n\r\n')],
  ['a chunk’s line that ends in LF', chunked('2\n{}\n0\n\n')],
  ['a chunk’s extension that ends in LF', chunked('2;a\n{}\r\n0\r\n\r\n')],
  ['a chunk without an end', chunked('2\r\n{}0\r\n\r\n')],
  ['a length in a trailer', chunked('2\r\n{}\r\n0\r\ncontent-length: 9\r\n\r\n')],
])(
  '%s is no request: it is refused, and nothing is read of what follows (I2)',
  async (_, bytes) => {
    expect(await saidTo(bytes)).toMatch(
      /^HTTP\/1\.1 400 (?:(?!HTTP).)*"The request is not HTTP"\}$/s,
    );
  },
);

it.each([
  ['nobody answers to', 'POST /nothing HTTP/1.1\r\nhost: x\r\n', 404],
  ['has a method without a body', 'GET /user/balance HTTP/1.1\r\nhost: x\r\n', 404],
  ['expects what nobody knows', `${START}expect: 200-ok\r\n`, 400],
])('the body of a request that %s is no request', async (_, start, status) => {
  const body = 'GET /hidden HTTP/1.1\r\nhost: x\r\n\r\n';
  for (const framed of [
    `content-length: ${body.length}\r\n\r\n${body}`,
    `transfer-encoding: chunked\r\n\r\n${body.length.toString(16)};a=b\r\n${body}\r\n0\r\n\r\n`,
  ]) {
    const statuses = [...(await saidTo(start + framed)).matchAll(/HTTP\/1\.1 (\d+)/g)];
    expect(statuses.map(([, one]) => Number(one))).toEqual([status, 404]);
  }
});
