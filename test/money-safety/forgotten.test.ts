import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { placeBody } from '../../src/protocol/callback-bodies.ts';
import { forgetPlayer } from '../../src/store/players/forget.ts';
import { createPrisma } from '../../src/store/schema/prisma.ts';
import { BY } from '../support/audit.ts';
import { unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { lose, timeComes } from './support/bets.ts';
import { PATIENT, QUICK } from './support/patience.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ worker: true, gateway: QUICK, operators: { alpha: PATIENT } });
});
afterAll(() => gateway.close());

it('a rollback that is still to be confirmed keeps its player from being forgotten: it is sent as it came', async () => {
  const prisma = createPrisma(gateway.databaseUrl);
  onTestFinished(() => prisma.$disconnect());
  const bet = await unplacedBet(gateway);
  const { transactionId } = bet;
  const { userId } = bet.player;
  lose(bet, 'place');
  expect((await bet.place()).json?.code).toBe(100);
  expect((await bet.rollback({ info: '"as it came"' })).status).toBe(200);
  const waits = { kind: 'open', transactionIds: [transactionId] };
  expect(await forgetPlayer(prisma, userId, BY)).toEqual(waits);
  await timeComes(bet, 'first');
  expect(await forgetPlayer(prisma, userId, BY)).toEqual(waits);
  await timeComes(bet, 'second');
  expect(bet.arrivals()).toEqual(['place', 'rollback', 'rollback', 'rollback']);
  expect(String(bet.lastRequest().body)).toContain('"info":"as it came"');
  expect(await forgetPlayer(prisma, userId, BY)).toMatchObject({ kind: 'forgotten', bets: 1 });
});

it.each([
  ['keeps nobody from being forgotten', 5, 400, { kind: 'forgotten', bets: 1, messages: 1 }],
  // The service sends it again.
  ['for its signature keeps its player', 1, 503, { kind: 'open' }],
])('a result of an unknown bet that its wallet refused %s', async (_, code, status, forgotten) => {
  const prisma = createPrisma(gateway.databaseUrl);
  onTestFinished(() => prisma.$disconnect());
  const bet = await unplacedBet(gateway);
  bet.wallet.misbehave('settle', { kind: 'code', code }, { transactionId: bet.transactionId });
  expect((await bet.settle('5')).status).toBe(status);
  expect(await forgetPlayer(prisma, bet.player.userId, BY)).toMatchObject(forgotten);
  // Its bytes are known nevertheless.
  expect((await bet.settle('5')).status).toBe(status);
});

it('a captured place of a forgotten player, without a requestId that can be on record, is still no unsettle (I10)', async () => {
  const prisma = createPrisma(gateway.databaseUrl);
  onTestFinished(() => prisma.$disconnect());
  const bet = await unplacedBet(gateway);
  const captured = placeBody(bet.slip, { requestId: '"d\u00e9j\u00e0"' });
  expect((await gateway.service.call('POST', '/payment/bet', captured)).status).toBe(200);
  expect((await bet.settle('40')).status).toBe(200);
  const forgotten = { kind: 'forgotten', bets: 1, messages: 2 };
  expect(await forgetPlayer(prisma, bet.player.userId, BY)).toMatchObject(forgotten);
  const answer = await gateway.service.call('PUT', '/payment/bet', captured);
  expect([answer.status, answer.json?.code]).toEqual([400, 5]);
  expect(bet.arrivals()).toEqual(['place', 'settle']);
});
