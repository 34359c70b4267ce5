import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { signingKeys, verify } from '../../../src/protocol/signature.ts';
import { createOperator, type SimulatedOperator } from '../../../tools/simulator/operator.ts';
import { listenOn, stopListening } from '../../../tools/simulator/wallet/listener.ts';

const SECRET = 'operator-secret';
const keys = signingKeys([SECRET]);
const session = { userId: 'u-1', token: 't-1', expiresAt: '2026-01-01T00:00:00.000Z' };

let server: Server;
let operator: SimulatedOperator;
let seen: { path: string | undefined; body: unknown; signed: boolean }[];
let status: number;

beforeEach(async () => {
  seen = [];
  status = 201;
  server = createServer((request, response) => {
    void text(request).then((body) => {
      const jws = request.headers['x-sign-jws'];
      const { ok } = verify(typeof jws === 'string' ? jws : undefined, Buffer.from(body), keys);
      seen.push({ path: request.url, body: JSON.parse(body), signed: ok });
      response.writeHead(status).end(JSON.stringify(session));
    });
  });
  const port = await listenOn(server, 0);
  const baseUrl = `http://127.0.0.1:${port}/`;
  operator = createOperator({ baseUrl, cid: 'alpha-key', secret: SECRET });
});

afterEach(async () => {
  await operator.close();
  await stopListening(server);
});

const request = { operatorUser: 'ann', currency: 'USD', operatorToken: 'ann-usd-token' };

it('opens a session', async () => {
  expect((await operator.openSession(request)).session).toEqual(session);
  const body = { cid: 'alpha-key', ...request };
  expect(seen).toEqual([{ path: '/operator/sessions', body, signed: true }]);
});

it('has no session if none was opened', async () => {
  status = 403;
  expect(await operator.openSession(request)).toMatchObject({ status: 403 });
  expect((await operator.openSession(request)).session).toBeUndefined();
});

it('revokes sessions, asks for bets and calls anything else with its cid', async () => {
  await operator.revokeSessions({ operatorUser: 'ann' });
  await operator.bet('bet-1');
  await operator.call('/bonuses/templates', { page: 2, cid: 'forged' });
  await operator.bonuses('player/bonuses', { userId: 'ann' });
  expect(seen.map(({ path, body }) => [path, body])).toEqual([
    ['/operator/sessions/revoke', { cid: 'alpha-key', operatorUser: 'ann' }],
    ['/operator/bets', { cid: 'alpha-key', transactionId: 'bet-1' }],
    ['/bonuses/templates', { cid: 'forged', page: 2 }],
    ['/bonuses/player/bonuses', { cid: 'alpha-key', userId: 'ann' }],
  ]);
});
