import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sql } from '../deliveries/support/deliveries.ts';
import { BY } from '../support/audit.ts';
import type { TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { asPerson } from '../support/person.ts';
import { acceptedBet, settlesOf, timeComes, untilDeliveriesAre } from './support/bets.ts';
import { QUEUEING, QUICK } from './support/patience.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    worker: true,
    gateway: QUICK,
    operators: { alpha: QUEUEING },
  });
});
afterEach(() => gateway.wallet('alpha').behave());
afterAll(() => gateway.close());

const status = ({ status: of }: { status: number }) => of;

/** Ends the horizon of its deliveries. */
async function givenUp({ transactionId }: TestBet): Promise<void> {
  const end = `UPDATE deliveries SET dead_at = now() WHERE transaction_id = $1`;
  await sql(gateway, end, [transactionId]);
}

/**
 * A settle of 20 that was promised: one attempt waits at the wallet, the last one has paid, and neither was
 * answered. A person has looked at the wallet and resolved the dead letter.
 */
async function resolvedBet(): Promise<TestBet> {
  const bet = await acceptedBet(gateway);
  const { transactionId } = bet;
  bet.wallet.misbehave('settle', { kind: 'reset', effect: 'later' }, { transactionId, calls: 1 });
  const paid = { kind: 'reset', effect: 'applied' } as const;
  const stopFailing = bet.wallet.misbehave('settle', paid, { transactionId });
  expect(status(await bet.settle('20'))).toBe(200);
  await untilDeliveriesAre(bet, [{ operation: 'settle', state: 'pending' }]);
  await givenUp(bet);
  const [dead] = await untilDeliveriesAre(bet, [{ operation: 'settle', state: 'dead' }]);
  stopFailing();
  expect(bet.balance()).toBe('920');
  await asPerson(gateway, (admin) => admin.resolve(dead?.id ?? '', 'ann', 'it is paid', BY));
  return bet;
}

describe('rule 3: an attempt of a dead letter that a person has resolved may land last (I5)', {
  timeout: 60_000,
}, () => {
  it('behind the result that comes next', async () => {
    const bet = await resolvedBet();
    expect(status(await bet.settle('50'))).toBe(200);
    bet.wallet.applyLate(bet.transactionId);
    expect(bet.balance()).toBe('920');
    await timeComes(bet, 'first');
    expect(bet.balance()).toBe('950');
    await timeComes(bet, 'second');
    expect(settlesOf(bet).slice(-3)).toEqual(['50', '50', '50']);
  });

  it('but what the person has seen to is not sent by itself', async () => {
    const bet = await resolvedBet();
    const sent = settlesOf(bet).length;
    await timeComes(bet, 'first');
    await timeComes(bet, 'second');
    expect(settlesOf(bet)).toHaveLength(sent);
  });
});
