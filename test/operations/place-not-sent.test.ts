import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placeBody, rollbackBody } from '../../src/protocol/callback-bodies.ts';
import { placedBet, type TestBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { betState } from '../support/journal.ts';
import { expectNotSent } from '../support/not-sent.ts';

const TOTAL_MS = 2_000;
const RESERVE_MS = 800;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    gateway: {
      deadline: { totalMs: TOTAL_MS, reserveMs: RESERVE_MS },
      service: { trustProxy: ['127.0.0.0/8'] },
    },
    operators: { alpha: {}, beta: {}, gamma: {} },
  });
});
afterAll(() => gateway.close());

const rejected = (operator: string, reason: string) =>
  gateway.metric('gateway_rejected_total', { operator, reason });

describe('a place bet of an operator', () => {
  it.each(['maintenance', 'suspended'])('in %s is refused at once, unsent', async (status) => {
    const bet = await unplacedBet(gateway, { operatorId: 'beta' });
    const open = await placedBet(gateway, { operatorId: 'beta' });
    await gateway.reconfigure('beta', { status });
    await expectNotSent(bet, await bet.place());
    expect(await rejected('beta', status)).toBe(1);
    expect((await open.place()).status).toBe(200);
    await gateway.reconfigure('beta', { status: 'active' });
  });

  it('whose file was removed is refused at once, unsent', async () => {
    const bet = await unplacedBet(gateway, { operatorId: 'gamma' });
    await rm(join(gateway.configFolder, 'operators', 'gamma.yaml'));
    await gateway.reload();
    await expectNotSent(bet, await bet.place());
  });
});

describe('a request that a trusted proxy says it held', () => {
  const send = (method: 'POST' | 'PUT', body: string, heldMs: number) => {
    const startedAt = `t=${(Date.now() - heldMs) / 1_000}`;
    const headers = { 'x-request-start': startedAt };
    return gateway.service.call(method, '/payment/bet', body, { headers });
  };
  const placeHeld = (bet: TestBet, heldMs: number) => send('POST', placeBody(bet.slip), heldMs);

  it('is answered at once when all its time is over, and sends nothing (I1)', async () => {
    const bet = await unplacedBet(gateway);
    const answer = await placeHeld(bet, TOTAL_MS);
    expect([answer.status, answer.json?.code]).toEqual([400, 100]);
    expect(bet.arrivals()).toEqual([]);
  });

  it('is a rollback that is promised when no time is left for the wallet (I1, I4)', async () => {
    const bet = await placedBet(gateway);
    const answer = await send('PUT', rollbackBody(bet.slip, 10), TOTAL_MS - RESERVE_MS);
    expect(answer.status).toBe(200);
    expect(await bet.deliveries()).toMatchObject([{ operation: 'rollback', state: 'pending' }]);
    expect(bet.arrivals()).toEqual(['place']);
  });

  it('is not believed from anybody else', async () => {
    await gateway.close();
    gateway = await startTestGateway({ gateway: { deadline: { totalMs: TOTAL_MS } } });
    const bet = await unplacedBet(gateway);
    expect((await placeHeld(bet, TOTAL_MS)).status).toBe(200);
    expect(await betState(gateway.databaseUrl, bet.transactionId)).toMatchObject({
      place: 'accepted',
    });
  });
});
