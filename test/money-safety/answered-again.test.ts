import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sql } from '../deliveries/support/deliveries.ts';
import { BY } from '../support/audit.ts';
import type { TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { asPerson } from '../support/person.ts';
import { acceptedBet, settlesOf, untilDeliveriesAre } from './support/bets.ts';
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

/** The wallet holds 20, and has refused for good the 50 that was promised behind it. */
async function deadBehindStanding(): Promise<{
  bet: TestBet;
  id: string;
  standingAgain: () => ReturnType<TestBet['settle']>;
}> {
  const requestId = JSON.stringify(randomUUID());
  const bet = await acceptedBet(gateway);
  const { transactionId } = bet;
  const stopFailing = bet.wallet.misbehave(
    'settle',
    { kind: 'status', status: 500 },
    { transactionId },
  );
  const standingAgain = () => bet.settle('20', 'won', undefined, { requestId });
  expect((await standingAgain()).status).toBe(200);
  expect((await bet.settle('50')).status).toBe(200);
  const once = { transactionId, calls: 1 };
  bet.wallet.misbehave('settle', { kind: 'delay', ms: 1 }, once);
  bet.wallet.misbehave('settle', { kind: 'code', code: 20 }, once);
  stopFailing();
  const [, dead] = await untilDeliveriesAre(bet, [{ state: 'delivered' }, { state: 'dead' }]);
  expect(bet.balance()).toBe('920');
  return { bet, id: dead?.id ?? '', standingAgain };
}

const retry = (id: string) => asPerson(gateway, (admin) => admin.retry(id, BY));

describe('rule 10: a dead settle, and the result before it that the service was answered again (I6)', {
  timeout: 60_000,
}, () => {
  it('is not sent once more: the service goes by what it was answered last', async () => {
    const { bet, id } = await deadBehindStanding();
    expect((await bet.settle('20')).status).toBe(200);
    const sent = settlesOf(bet).length;
    expect(await retry(id)).toEqual({ kind: 'overtaken' });
    await untilDeliveriesAre(bet, [{ state: 'delivered' }, { state: 'dead' }]);
    expect(settlesOf(bet)).toHaveLength(sent);
    expect(bet.balance()).toBe('920');
  });

  it('changes nothing once a person has resolved it: the next 50 is sent', async () => {
    const { bet, id } = await deadBehindStanding();
    expect((await bet.settle('20')).status).toBe(200);
    await asPerson(gateway, (admin) => admin.resolve(id, 'ann', 'the service went back to 20', BY));
    expect((await bet.settle('50')).status).toBe(200);
    expect(bet.balance()).toBe('950');
  });

  it('is sent once more where only a copy of it was answered meanwhile', async () => {
    const { bet, id } = await deadBehindStanding();
    const put = (state: string) =>
      sql(
        gateway,
        `UPDATE deliveries SET state = $2, next_attempt_at = now() + interval '1 hour' WHERE id = $1`,
        [id, state],
      );
    await put('pending');
    expect((await bet.settle('50')).status).toBe(200);
    await put('dead');
    expect(await retry(id)).toMatchObject({ kind: 'retried' });
    await untilDeliveriesAre(bet, [{ state: 'delivered' }, { state: 'delivered' }]);
    expect(bet.balance()).toBe('950');
  });
});
