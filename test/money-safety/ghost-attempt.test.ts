import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestBet, unplacedBet } from '../support/bet.ts';
import type { TestGateway } from '../support/gateway.ts';
import { betState } from '../support/journal.ts';
import type { TcpProxy } from '../support/tcp-proxy.ts';
import { acceptedBet } from './support/bets.ts';
import { type HeldGateway, STATEMENTS, startHeldGateway } from './support/held-gateway.ts';
import { PATIENCE, PATIENT } from './support/patience.ts';

let held: HeldGateway;
let gateway: TestGateway;
let postgres: TcpProxy;
beforeAll(async () => {
  held = await startHeldGateway({
    operators: { alpha: PATIENT },
  });
  ({ gateway, postgres } = held);
});
afterAll(() => held.close());

/** A lease lasts 15 s: a bet that is free earlier was actively freed. */
const FREED = { ...PATIENCE, timeout: 10_000 };

const operations: readonly [string, (bet: TestBet) => Promise<{ status: number }>][] = [
  ['settle', (bet) => bet.settle('20')],
  ['rollback', (bet) => bet.rollback()],
];

describe('rule 9: an intent that was committed just after its caller gave up (I6, I11)', {
  timeout: 60_000,
}, () => {
  it.each(operations)('a %s is not sent, and its bet is free again at once', async (name, send) => {
    const bet = await acceptedBet(gateway);
    const commit = postgres.holdAnswer(STATEMENTS.commit, bet.transactionId);
    expect((await send(bet)).status).toBe(503);
    await commit.answered;
    const state = () => betState(gateway.databaseUrl, bet.transactionId);
    expect(await state()).toMatchObject({ busy: name });
    commit.release();
    await expect.poll(state, FREED).toMatchObject({ busy: null });
    expect(bet.arrivals()).toEqual(['place']);
    expect((await bet.settle('30')).status).toBe(name === 'rollback' ? 400 : 200);
  });

  it('even if the answer to its commit was lost with the connection', async () => {
    const bet = await acceptedBet(gateway);
    const commit = postgres.holdAnswer(STATEMENTS.commit, bet.transactionId);
    expect((await bet.settle('20')).status).toBe(503);
    await commit.answered;
    commit.swallow();
    const state = () => betState(gateway.databaseUrl, bet.transactionId);
    await expect.poll(state, FREED).toMatchObject({ busy: null });
    expect((await bet.settle('30')).status).toBe(200);
    expect(bet.arrivals()).toEqual(['place', 'settle']);
  });

  it('what waits for it does not wait for its lease: it is sent as soon as the bet is free', async () => {
    const bet = await acceptedBet(gateway);
    const commit = postgres.holdAnswer(STATEMENTS.commit, bet.transactionId);
    expect((await bet.settle('20')).status).toBe(503);
    await commit.answered;
    const later = bet.settle('30');
    await bet.isWaitedFor();
    commit.release();
    expect((await later).status).toBe(200);
    expect(bet.arrivals()).toEqual(['place', 'settle']);
  });

  it('a place is recorded as never sent, which answers its rollback (I2)', async () => {
    const bet = await unplacedBet(gateway);
    const commit = postgres.holdAnswer(STATEMENTS.placeBegin, bet.transactionId);
    expect((await bet.place()).json?.code).toBe(100);
    await commit.answered;
    commit.release();
    const state = () => betState(gateway.databaseUrl, bet.transactionId);
    await expect.poll(state, FREED).toMatchObject({ busy: null, place: 'not_sent' });
    expect((await bet.rollback()).status).toBe(200);
    expect(bet.arrivals()).toEqual([]);
  });
});
