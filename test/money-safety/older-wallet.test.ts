import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestGateway } from '../support/gateway.ts';
import { betState } from '../support/journal.ts';
import type { TcpProxy } from '../support/tcp-proxy.ts';
import { acceptedBet, untilDeliveriesAre } from './support/bets.ts';
import { type HeldGateway, STATEMENTS, startHeldGateway } from './support/held-gateway.ts';
import { PATIENT, QUICK } from './support/patience.ts';

let held: HeldGateway;
let gateway: TestGateway;
let postgres: TcpProxy;
beforeAll(async () => {
  held = await startHeldGateway({
    worker: true,
    gateway: QUICK,
    operators: { alpha: PATIENT, beta: PATIENT, gamma: PATIENT },
  });
  ({ gateway, postgres } = held);
});
afterAll(() => held.close());

/** The operator gets a new wallet with empty books, which would confirm any rollback. */
const replaceWallet = (operatorId: string) =>
  gateway.reconfigure(operatorId, { wallet: { generation: 2 } });

describe('a wallet that is replaced', { timeout: 60_000 }, () => {
  it('gets no delivery that was taken before', async () => {
    const bet = await acceptedBet(gateway, { operatorId: 'alpha' });
    gateway.parts.wallets.setOverride('alpha', 'money', 'open');
    expect((await bet.rollback()).status).toBe(200);
    const take = postgres.holdAnswer(STATEMENTS.claim, 'alpha');
    gateway.parts.wallets.setOverride('alpha', 'money', 'auto');
    await take.answered;
    expect(await betState(gateway.databaseUrl, bet.transactionId)).toMatchObject({
      busy: 'rollback',
    });
    await replaceWallet('alpha');
    take.release();
    await untilDeliveriesAre(bet, [{ state: 'pending', attempts: 0, held: true }]);
    expect(bet.arrivals()).toEqual(['place']);
  });

  it('gets no result whose intent was committed before: 503, the service repeats it', async () => {
    const bet = await acceptedBet(gateway, { operatorId: 'beta' });
    const commit = postgres.holdAnswer(STATEMENTS.commit, bet.transactionId);
    const settling = bet.settle('20');
    await commit.answered;
    await replaceWallet('beta');
    commit.release();
    expect((await settling).status).toBe(503);
    expect(bet.arrivals()).toEqual(['place']);
    await gateway.reconfigure('beta', {});
    expect((await bet.settle('20')).status).toBe(200);
  });

  it('gets no rollback whose intent was committed before: it is held for the old one (I4)', async () => {
    const bet = await acceptedBet(gateway, { operatorId: 'gamma' });
    const commit = postgres.holdAnswer(STATEMENTS.commit, bet.transactionId);
    const rollingBack = bet.rollback();
    await commit.answered;
    await replaceWallet('gamma');
    commit.release();
    expect((await rollingBack).status).toBe(200);
    await untilDeliveriesAre(bet, [{ state: 'pending', attempts: 0, held: true }]);
    expect(bet.arrivals()).toEqual(['place']);
  });
});
