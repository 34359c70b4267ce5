import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestBet } from '../support/bet.ts';
import type { TestGateway } from '../support/gateway.ts';
import type { TcpProxy } from '../support/tcp-proxy.ts';
import { acceptedBet } from './support/bets.ts';
import { type HeldGateway, STATEMENTS, startHeldGateway } from './support/held-gateway.ts';
import { PATIENCE, PATIENT } from './support/patience.ts';

/**
 * A copy spends the first half of its time waiting for the first request, and keeps the second half for its answer.
 */
const [TOTAL_MS, RESERVE_MS] = [5_000, 2_500];

let held: HeldGateway;
let gateway: TestGateway;
let postgres: TcpProxy;
beforeAll(async () => {
  held = await startHeldGateway({
    gateway: { deadline: { totalMs: TOTAL_MS, reserveMs: RESERVE_MS } },
    operators: { alpha: PATIENT },
  });
  ({ gateway, postgres } = held);
});
afterAll(() => held.close());

const operations: readonly [
  'rollback' | 'update',
  (bet: TestBet) => ReturnType<TestBet['place']>,
][] = [['rollback', (bet) => bet.rollback()]];

describe('rule 12: a copy whose look at the bet took all its time to wait', {
  timeout: 60_000,
}, () => {
  it.each(operations)(
    'looks once more, and gets the answer of the first %s, not its promise (I3)',
    async (name, send) => {
      const bet = await acceptedBet(gateway);
      const { transactionId } = bet;
      const wallet = bet.wallet.hold(name, { transactionId });
      const first = send(bet);
      await wallet.arrived;
      const look = postgres.holdAnswer(STATEMENTS.find, transactionId);
      const beganAtMs = performance.now();
      const copy = send(bet);
      await look.answered;
      wallet.release();
      const told = await first;
      const waited = () => performance.now() - beganAtMs > TOTAL_MS - RESERVE_MS;
      await expect.poll(waited, PATIENCE).toBe(true);
      look.release();
      expect(await copy).toMatchObject({ status: 200, body: told.body });
      expect(bet.arrivals()).toEqual(['place', name]);
    },
  );
});
