import { afterEach, expect, it, vi } from 'vitest';
import { deadlineIn } from '../wallets/support/calls.ts';
import { client, closeOpened, post, wallet } from './support/client.ts';

afterEach(closeOpened);

it('takes up to eight hints before an answer, and an answer of many chunks', async () => {
  const hint = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n';
  const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
  const body = Array.from({ length: 2_000 }, () => '1;a=b\r\nx\r\n').join('');
  const server = await wallet(({ socket }) => {
    socket.write(`${hint.repeat(8)}${chunked}${body}0\r\nx-sum: 1\r\n\r\n`);
  });
  const http = client(server.origin, { connections: 1 });
  // Repeatedly on one connection: the limit applies to one answer, not to the connection.
  for (let count = 0; count < 30; count += 1) {
    const exchange = await http.exchange(post(), deadlineIn(3_000));
    expect(exchange).toMatchObject({
      kind: 'response',
      status: 200,
      body: Buffer.from('x'.repeat(2_000)),
    });
  }
  expect(server.connections).toBe(1);
});

it('takes no ninth hint: a wallet that sends nothing else is given up at once (I7)', async () => {
  const server = await wallet(({ socket }) => {
    socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(9));
  });
  const exchange = await client(server.origin).exchange(post(), deadlineIn(3_000));
  expect(exchange).toMatchObject({ kind: 'failed', fault: 'bad_answer' });
});

it('takes an answer that comes byte by byte, as long as it ends in time (I1)', async () => {
  const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
  const server = await wallet(({ socket }) => {
    socket.write(`${chunked}${'1\r\n \r\n'.repeat(20_000)}0\r\n\r\n`);
  });
  const exchange = await client(server.origin).exchange(post(), deadlineIn(3_000));
  expect(exchange).toMatchObject({ kind: 'response', body: Buffer.alloc(20_000, ' ') });
});

it('accepts the longest answer in chunks of a word each, whole and in order', async () => {
  const words = Array.from({ length: 4_000 }, (_, n) => `w${n} `);
  const text = words.join('');
  const server = await wallet(({ socket }) => {
    const chunks = words.map((word) => `${word.length.toString(16)}\r\n${word}\r\n`);
    socket.write(
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks.join('')}0\r\n\r\n`,
    );
  });
  const http = client(server.origin, { connections: 1 });
  const exchange = await http.exchange(post(), deadlineIn(3_000));
  expect(exchange).toMatchObject({ kind: 'response' });
  expect(exchange.kind === 'response' && exchange.body.toString()).toBe(text);
});

it('copies an answer of megabytes twice, however many its pieces (I7)', async () => {
  const body = Buffer.alloc(4_000_000, 'answer ');
  const server = await wallet(({ socket }) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`);
    socket.write(body);
  });
  const http = client(server.origin, { connections: 1 });
  const concat = vi.spyOn(Buffer, 'concat');
  const exchange = await http.exchange(post({ answerBytesMax: body.length }), deadlineIn(3_000));
  const copied = concat.mock.results.reduce((sum, { value }) => sum + Buffer.byteLength(value), 0);
  concat.mockRestore();
  expect(exchange.kind === 'response' && exchange.body.equals(body)).toBe(true);
  expect(copied).toBeLessThan(2.1 * body.length);
});
