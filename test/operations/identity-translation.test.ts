import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { balanceBody, profileBody } from '../../src/protocol/callback-bodies.ts';
import { signingKeys, verify } from '../../src/protocol/signature.ts';
import type { RecordedRequest } from '../../tools/simulator/wallet/recorder.ts';
import { placedBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.close());

function lastRequest(): RecordedRequest {
  const request = gateway.wallet('alpha').requests.at(-1);
  if (request === undefined) throw new Error('nothing reached the wallet');
  return request;
}

/** The service's message, written once so that it can be compared byte by byte. */
function awkward(names: {
  transactionId: string;
  userId: string;
  token: string | undefined;
}): string {
  const token = names.token === undefined ? '' : `"token":"${names.token}",`;
  return (
    `{${token}"transactionId":"${names.transactionId}","amount":12.10,"currency":"USD",` +
    `"userId":"${names.userId}","coefficient":1.0e0,"type":TYPE,"resultType":"won","errorCode":50,` +
    `"requestId":"9007199254740993","subPartnerId":null,"big":9007199254740993,"tiny":0.10000000000000000001,` +
    `"huge":1E400,"text":"caf\\u00e9 \\/ \\ud83d\\ude00","empty":{},"list":[1.50,[],"12.10",null,true],` +
    `"metadata":[{"userId":"nested","token":"nested","transactionId":"nested","coefficient":1.20}],` +
    `"__proto__":{"userId":"nested"},"nested":{"userId":"nested","token":"nested"}}`
  );
}

const OPERATIONS = [
  ['place', 'POST', '1'],
  ['settle', 'PUT', '2'],
  ['unsettle', 'PUT', '1'],
  ['rollback', 'PUT', '3'],
  ['update', 'PUT', '5'],
] as const;

describe.each(OPERATIONS)('%s on its way to the wallet', (operation, method, type) => {
  it('changes userId and token at the top level, and not one other byte (I9)', async () => {
    const placed = operation !== 'place';
    // The stake of the message: a rollback carries the journal's.
    const bet = await (placed ? placedBet : unplacedBet)(gateway, { amount: '12.10' });
    const { transactionId, player } = bet;
    const text = (names: Omit<Parameters<typeof awkward>[0], 'transactionId'>) =>
      awkward({ transactionId, ...names }).replace('TYPE', type);
    await gateway.service.call(method, '/payment/bet', text(player));
    const sent = String(bet.lastRequest().body);
    expect(sent).toBe(text({ userId: player.user, token: player.operatorToken }));
  });

  it('keeps method and path and is signed with the operator’s secret over the bytes sent (I9)', async () => {
    const bet = operation === 'place' ? await unplacedBet(gateway) : await placedBet(gateway);
    const requestId = randomUUID();
    const { userId, token } = bet.player;
    const body = awkward({ transactionId: bet.transactionId, userId, token })
      .replace('TYPE', type)
      .replace('9007199254740993', requestId);
    await gateway.service.call(method, '/payment/bet', body);
    const request = bet.lastRequest();
    expect([request.method, request.path]).toEqual([method, '/sportsbook/payment/bet']);
    const { headers } = request;
    const jws = String(headers['x-sign-jws']);
    expect(verify(jws, request.body, signingKeys(['alpha-wallet-secret'])).ok).toBe(true);
    expect(verify(jws, request.body, signingKeys(['the-services-secret'])).ok).toBe(false);
    expect(headers['x-request-id']).toBe(requestId);
    expect(Number(headers['x-deadline-ms'])).toBeGreaterThan(3_000);
    expect(Number(headers['x-deadline-ms'])).toBeLessThanOrEqual(4_500);
  });
});

it('is sent compact: insignificant white space is left out, that within texts stays', async () => {
  const { player, transactionId } = await unplacedBet(gateway);
  const { userId, token, user, operatorToken } = player;
  const body = (names: { userId: string; token: string }) =>
    awkward({ transactionId, ...names })
      .replace('TYPE', '1')
      .replace('caf', 'a  b');
  const loose = body({ userId, token })
    .replace('"amount":', ' "amount" :\t')
    .replace('[]', '[\r\n ]');
  // First, so that a place that was not sent in time fails here, and not by the message before it.
  expect((await gateway.service.call('POST', '/payment/bet', loose)).status).toBe(200);
  expect(String(lastRequest().body)).toBe(body({ userId: user, token: operatorToken }));
});

it('says less time in x-deadline-ms when less is left', async () => {
  const bet = await unplacedBet(gateway);
  await gateway.reconfigure('alpha', { wallet: { timeoutMs: 1_000 } });
  await bet.place();
  await gateway.reconfigure('alpha', {});
  expect(Number(bet.lastRequest().headers['x-deadline-ms'])).toBeLessThanOrEqual(1_000);
});

it('is signed with the first of the wallet’s secrets after a rotation', async () => {
  gateway.wallet('alpha').setSecrets(['the-next-secret-of-alpha']);
  await gateway.reconfigure('alpha', {
    wallet: { secrets: ['the-next-secret-of-alpha', 'alpha-wallet-secret'] },
  });
  const bet = await placedBet(gateway);
  const { body, headers } = bet.lastRequest();
  expect(
    verify(String(headers['x-sign-jws']), body, signingKeys(['the-next-secret-of-alpha'])).ok,
  ).toBe(true);
  gateway.wallet('alpha').setSecrets(['alpha-wallet-secret']);
  await gateway.reconfigure('alpha', {});
});

it('a profile’s token becomes the operator’s, and no userId is added', async () => {
  const player = await gateway.player();
  const body = profileBody(player.token);
  await gateway.service.call('POST', '/user/profile', body);
  const { body: sent, path, method, headers } = lastRequest();
  expect(String(sent)).toBe(body.replace(player.token, player.operatorToken));
  expect([method, path]).toEqual(['POST', '/sportsbook/user/profile']);
  expect(headers['x-request-id']).toBe(JSON.parse(body).requestId);
});

it('a balance’s userId and token become the operator’s', async () => {
  const player = await gateway.player();
  const body = balanceBody(player);
  await gateway.service.call('POST', '/user/balance', body);
  const { body: sent, path, method } = lastRequest();
  const { token, userId, user, operatorToken } = player;
  expect(String(sent)).toBe(body.replace(userId, user).replace(token, operatorToken));
  expect([method, path]).toEqual(['POST', '/sportsbook/user/balance']);
});
