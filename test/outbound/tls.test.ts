import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import tls, { type TLSSocket, type TlsOptions } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { HttpClient } from '../../src/outbound/http-client.ts';
import { deadlineIn } from '../wallets/support/calls.ts';
import { AUTHORITY, RSA_SERVER, SERVER } from '../wallets/support/private-authority.ts';

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

/** Asks a wallet over TLS that does `answer` as soon as a request has come. */
async function ask(options: TlsOptions, answer: (socket: TLSSocket) => void) {
  const server = tls.createServer({ ...SERVER, ...options }, (socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', () => answer(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const http = new HttpClient({
    clock: systemClock,
    origin: `https://localhost:${(server.address() as AddressInfo).port}`,
    allowPrivate: true,
    tls: { ca: `${AUTHORITY}${RSA_SERVER.cert}` },
    timeoutMs: 3000,
    connections: 1,
  });
  opened.push(http, server);
  const request = {
    method: 'POST',
    path: '/',
    headers: {},
    body: Buffer.from('{}'),
    answerBytesMax: 64 * 1024,
  } as const;
  return () => http.exchange(request, deadlineIn(3000));
}

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
const ANSWER = `${HEAD}content-length: 2\r\n\r\n{}`;

/** A new handshake on the same connection; TLS 1.2 alone has that. */
function shakeHandsAnew(socket: TLSSocket, then: () => void): void {
  socket.renegotiate({}, (error) => {
    if (error === null) then();
  });
}

describe('a wallet over TLS', () => {
  it('whose TLS never ends is broken off, and what it says is no answer (I7)', async () => {
    // Otherwise it is Node's server that ends it.
    Object.assign(tls, { CLIENT_RENEG_LIMIT: Number.POSITIVE_INFINITY });
    const call = await ask({ maxVersion: 'TLSv1.2' }, (socket) => {
      const again = () => shakeHandsAnew(socket, again);
      again();
    });
    expect(await call()).toMatchObject({
      kind: 'failed',
      fault: 'bad_answer',
      error: expect.stringMatching(/\d+ bytes of TLS came around 0 of an answer$/),
    });
  });

  it('may ask for a new handshake before it answers', async () => {
    const call = await ask({ maxVersion: 'TLSv1.2' }, (socket) =>
      shakeHandsAnew(socket, () => socket.write(ANSWER)),
    );
    expect(await call()).toMatchObject({ kind: 'response', status: 200 });
  });

  it('may send each byte of its answer in a record of its own', async () => {
    const call = await ask({}, (socket) => {
      socket.setNoDelay(true);
      socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n`);
      for (let n = 0; n < 3000; n += 1) socket.write('1\r\nx\r\n');
      socket.write('0\r\n\r\n');
    });
    for (let n = 0; n < 10; n += 1) {
      expect(await call()).toMatchObject({ kind: 'response', body: Buffer.alloc(3000, 'x') });
    }
  });

  it('may have a certificate with RSA', async () => {
    const call = await ask({ ...RSA_SERVER, maxVersion: 'TLSv1.2' }, (socket) =>
      socket.write(ANSWER),
    );
    expect(await call()).toMatchObject({ kind: 'response', status: 200 });
  });

  it.each(['DHE-RSA-AES256-GCM-SHA384', 'DHE-RSA-AES128-SHA256'])(
    'cannot make this process calculate with numbers of any length (%s, I7)',
    async (ciphers) => {
      const onlyThat = { ...RSA_SERVER, ciphers, dhparam: 'auto', maxVersion: 'TLSv1.2' } as const;
      const call = await ask(onlyThat, (socket) => socket.write(ANSWER));
      expect(await call()).toMatchObject({
        kind: 'notSent',
        reason: 'connection',
        error: expect.stringContaining('TLS: handshake failed'),
      });
    },
  );
});
