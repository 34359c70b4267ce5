import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import tls, { type TLSSocket, type TlsOptions } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { describeError } from '../../src/outbound/describe-error.ts';
import { deadlineIn } from '../wallets/support/calls.ts';
import { AUTHORITY, RSA_SERVER, SERVER } from '../wallets/support/private-authority.ts';
import { client, closeOpened, opened, portOf, post } from './support/client.ts';
import { SHA1, WEAK_AUTHORITY, WEAK_KEY } from './support/weak-certificates.ts';

afterEach(closeOpened);

/** Calls a TLS wallet that runs `answer` as soon as a request has come. */
async function ask(options: TlsOptions, answer: (socket: TLSSocket) => void) {
  const server = tls.createServer({ ...SERVER, ...options }, (socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', () => answer(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  opened.push({ close: async () => void server.close() });
  const http = client(`https://localhost:${portOf(server)}`, {
    tls: { ca: `${AUTHORITY}${RSA_SERVER.cert}${WEAK_AUTHORITY}` },
    connections: 1,
  });
  return () => http.exchange(post(), deadlineIn(3000));
}

/** Node's names of OpenSSL's verification errors (node_crypto's `X509ErrorCode`). */
const X509_CODES = [
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_CRL',
  'UNABLE_TO_DECRYPT_CERT_SIGNATURE',
  'UNABLE_TO_DECRYPT_CRL_SIGNATURE',
  'UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY',
  'CERT_SIGNATURE_FAILURE',
  'CRL_SIGNATURE_FAILURE',
  'CERT_NOT_YET_VALID',
  'CERT_HAS_EXPIRED',
  'CRL_NOT_YET_VALID',
  'CRL_HAS_EXPIRED',
  'ERROR_IN_CERT_NOT_BEFORE_FIELD',
  'ERROR_IN_CERT_NOT_AFTER_FIELD',
  'ERROR_IN_CRL_LAST_UPDATE_FIELD',
  'ERROR_IN_CRL_NEXT_UPDATE_FIELD',
  'OUT_OF_MEM',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_CHAIN_TOO_LONG',
  'CERT_REVOKED',
  'INVALID_CA',
  'PATH_LENGTH_EXCEEDED',
  'INVALID_PURPOSE',
  'CERT_UNTRUSTED',
  'CERT_REJECTED',
  'HOSTNAME_MISMATCH',
  'UNSPECIFIED',
];

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
const ANSWER = `${HEAD}content-length: 2\r\n\r\n{}`;

/** Starts a new handshake on the same connection, which only TLS 1.2 has. */
function shakeHandsAnew(socket: TLSSocket, then: () => void): void {
  socket.renegotiate({}, (error) => {
    if (error === null) then();
  });
}

describe('a wallet over TLS', () => {
  it('is asked for the site that a Host header names, and is believed as no other', async () => {
    const sites: unknown[] = [];
    const server = tls.createServer(SERVER, (socket) => {
      socket.on('error', () => socket.destroy());
      socket.on('data', (bytes) => {
        sites.push([socket.servername, /^host: (.*)\r$/m.exec(String(bytes))?.[1]]);
        socket.end(ANSWER);
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    opened.push({ close: async () => void server.close() });
    const http = client(`https://127.0.0.1:${portOf(server)}`);
    const ask = (host: string) => http.exchange(post({ headers: { host } }), deadlineIn(3000));
    expect(await ask('localhost:8443')).toMatchObject({ kind: 'response', status: 200 });
    expect(await ask('elsewhere.example')).toMatchObject({ kind: 'notSent' });
    expect(sites).toEqual([['localhost', 'localhost:8443']]);
    const byName = client(`https://localhost:${portOf(server)}`);
    const byAddress = post({ headers: { host: '10.9.8.7:8443' } });
    expect(await byName.exchange(byAddress, deadlineIn(3000))).toMatchObject({ kind: 'response' });
    expect(sites[1]).toEqual(['localhost', '10.9.8.7:8443']);
  });

  it('keeps no connection whose handshake does not come to an end', async () => {
    const server = createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    opened.push({ close: async () => void server.close() });
    const taken = once(server, 'connection') as Promise<[Socket]>;
    const http = client(`https://localhost:${portOf(server)}`, { timeoutMs: 500 });
    const exchange = http.exchange(post(), deadlineIn(3000));
    const [socket] = await taken;
    // Keeps reading: without that, the end of the connection is never seen.
    socket.resume();
    const closed = once(socket, 'close');
    expect(await exchange).toMatchObject({ kind: 'notSent' });
    await closed;
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

  it.each([
    ['has a weak key', WEAK_KEY, 'key too weak'],
    ['is signed with SHA-1', SHA1, 'digest algorithm too weak'],
  ])(
    'is refused for its certificate where that %s, and not for the network',
    async (_, identity, why) => {
      const call = await ask({ ...identity, ciphers: 'DEFAULT:@SECLEVEL=0' }, (socket) =>
        socket.write(ANSWER),
      );
      expect(await call()).toMatchObject({
        kind: 'notSent',
        reason: 'connection',
        error: expect.stringMatching(new RegExp(`^TLS: its certificate is refused .*${why}`)),
      });
    },
  );

  it('is refused for its certificate by each name that Node has for a failed verification', () => {
    const answerSummary = X509_CODES.map((code) =>
      describeError(Object.assign(new Error('refused'), { code })),
    );
    expect(answerSummary.filter((words) => !words.startsWith('TLS: its certificate '))).toEqual([]);
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
