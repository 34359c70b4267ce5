import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { endLeases, sql } from '../deliveries/support/deliveries.ts';
import { type TestBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import {
  acceptedBet,
  isConfirming,
  lose,
  makeDue,
  settlesOf,
  timeComes,
  untilDeliveriesAre,
  untilSettlesAre,
} from './support/bets.ts';
import { PATIENCE, PATIENT, QUEUEING, QUICK } from './support/patience.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    worker: true,
    gateway: QUICK,
    operators: { alpha: PATIENT, queue: QUEUEING },
  });
});
afterEach(() => gateway.wallet('alpha').behave());
afterAll(() => gateway.close());

/** As if its wallet had been away beyond the horizon: its next confirmation has one attempt. */
async function isOverdueFromItsBeginning({ transactionId }: TestBet): Promise<void> {
  await sql(
    gateway,
    `CREATE OR REPLACE FUNCTION make_overdue() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN NEW.dead_at := clock_timestamp() - interval '1 second'; RETURN NEW; END $$;
     CREATE OR REPLACE TRIGGER make_overdue BEFORE INSERT OR UPDATE ON deliveries FOR EACH ROW
       WHEN (NEW.purpose = 'confirm' AND NEW.transaction_id = '${transactionId}')
       EXECUTE FUNCTION make_overdue()`,
    [],
  );
}

const status = ({ status: of }: { status: number }) => of;

describe('rule 3: a lost result may land last, so what stands is sent once more, twice (I5)', {
  timeout: 90_000,
}, () => {
  it('a lost settle that was repeated and accepted lands behind another result', async () => {
    const bet = await acceptedBet(gateway);
    lose(bet, 'settle');
    expect(status(await bet.settle('20'))).toBe(503);
    expect(status(await bet.settle('20'))).toBe(200);
    expect(status(await bet.settle('50'))).toBe(200);
    bet.wallet.applyLate(bet.transactionId);
    expect(bet.balance()).toBe('920');
    await timeComes(bet, 'first');
    expect(settlesOf(bet)).toEqual(['20', '20', '50', '50']);
    expect(bet.balance()).toBe('950');
    await timeComes(bet, 'second');
    expect(settlesOf(bet)).toEqual(['20', '20', '50', '50', '50']);
  });

  it('it lands after the first confirmation: the second one corrects it', async () => {
    const bet = await acceptedBet(gateway);
    lose(bet, 'settle');
    expect(status(await bet.settle('20'))).toBe(503);
    expect(status(await bet.settle('50'))).toBe(200);
    await timeComes(bet, 'first');
    bet.wallet.applyLate(bet.transactionId);
    expect(bet.balance()).toBe('920');
    await timeComes(bet, 'second');
    expect(bet.balance()).toBe('950');
  });

  it('the duty is the bet’s: a confirmation that was superseded passes it on to what stands then', async () => {
    const bet = await acceptedBet(gateway);
    lose(bet, 'settle');
    expect(status(await bet.settle('20'))).toBe(503);
    expect(status(await bet.settle('50'))).toBe(200);
    const { transactionId } = bet;
    const stopFailing = bet.wallet.misbehave('settle', { kind: 'reset' }, { transactionId });
    await isConfirming(bet);
    stopFailing();
    await expect.poll(async () => status(await bet.settle('70')), PATIENCE).toBe(200);
    bet.wallet.applyLate(transactionId);
    expect(bet.balance()).toBe('920');
    await timeComes(bet, 'first');
    await timeComes(bet, 'second');
    expect(settlesOf(bet).slice(-2)).toEqual(['70', '70']);
    expect(bet.balance()).toBe('970');
  });

  it('an attempt of a delivery counts like one of a callback', async () => {
    const bet = await acceptedBet(gateway, { operatorId: 'queue' });
    gateway.parts.wallets.setOverride('queue', 'money', 'open');
    expect(status(await bet.settle('20'))).toBe(200);
    lose(bet, 'settle');
    gateway.parts.wallets.setOverride('queue', 'money', 'auto');
    await untilDeliveriesAre(bet, [{ operation: 'settle', state: 'delivered', attempts: 2 }]);
    expect(status(await bet.settle('50'))).toBe(200);
    bet.wallet.applyLate(bet.transactionId);
    expect(bet.balance()).toBe('920');
    await timeComes(bet, 'first');
    expect(bet.balance()).toBe('950');
  });

  it('a lost confirmation lands behind the very result that was lost first', async () => {
    const bet = await acceptedBet(gateway);
    lose(bet, 'settle');
    expect(status(await bet.settle('30'))).toBe(503);
    expect(status(await bet.settle('20'))).toBe(200);
    lose(bet, 'settle');
    await timeComes(bet, 'first');
    expect(settlesOf(bet)).toEqual(['30', '20', '20', '20']);
    expect(status(await bet.settle('30'))).toBe(200);
    bet.wallet.applyLate(bet.transactionId);
    expect(bet.balance()).toBe('920');
    await timeComes(bet, 'second');
    expect(bet.balance()).toBe('930');
  });

  it('a lost last confirmation lands behind a later result', async () => {
    const bet = await acceptedBet(gateway);
    lose(bet, 'settle');
    expect(status(await bet.settle('10'))).toBe(503);
    expect(status(await bet.settle('20'))).toBe(200);
    await timeComes(bet, 'first');
    lose(bet, 'settle');
    await makeDue(bet, 'second');
    await untilSettlesAre(bet, ['10', '20', '20', '20', '20']);
    expect(status(await bet.settle('30'))).toBe(200);
    bet.wallet.applyLate(bet.transactionId);
    expect(bet.balance()).toBe('920');
    await timeComes(bet, 'first');
    expect(bet.balance()).toBe('930');
  });

  it('a lost first confirmation lands behind a result that came after it: the second is ten times as late', async () => {
    const bet = await acceptedBet(gateway);
    lose(bet, 'settle');
    expect(status(await bet.settle('10'))).toBe(503);
    expect(status(await bet.settle('20'))).toBe(200);
    lose(bet, 'settle');
    // As if its wallet had been away until the second one is due as well.
    const dueLongAgo = `UPDATE bets SET confirm_at = now(), late_at = now() - interval '20 minutes'
                         WHERE transaction_id = $1`;
    await sql(gateway, dueLongAgo, [bet.transactionId]);
    await untilSettlesAre(bet, ['10', '20', '20', '20']);
    const next = `SELECT confirm_left, confirm_at > now() + interval '9 minutes' AS is_later
                    FROM bets WHERE transaction_id = $1`;
    const second = [{ confirm_left: 1, is_later: true }];
    await expect.poll(() => sql(gateway, next, [bet.transactionId]), PATIENCE).toEqual(second);
    expect(status(await bet.settle('30'))).toBe(200);
    bet.wallet.applyLate(bet.transactionId);
    expect(bet.balance()).toBe('920');
    await timeComes(bet, 'second');
    expect(bet.balance()).toBe('930');
  });

  it.each([
    ['first', 1],
    ['last', 2],
  ] as const)(
    'a %s confirmation that is lost when its horizon is over lands behind a later result',
    async (which, left) => {
      const bet = await acceptedBet(gateway);
      lose(bet, 'settle');
      expect(status(await bet.settle('10'))).toBe(503);
      expect(status(await bet.settle('20'))).toBe(200);
      if (which === 'last') await timeComes(bet, 'first');
      lose(bet, 'settle');
      await isOverdueFromItsBeginning(bet);
      const dueLongAgo = `UPDATE bets SET confirm_at = now(), late_at = now() - interval '20 minutes'
                         WHERE transaction_id = $1`;
      await sql(gateway, dueLongAgo, [bet.transactionId]);
      const ended = `SELECT b.confirm_left FROM bets b JOIN deliveries d USING (transaction_id)
                    WHERE transaction_id = $1 AND d.state = 'refused' AND b.confirm_at > now()`;
      const isToCome = [{ confirm_left: left }];
      await expect.poll(() => sql(gateway, ended, [bet.transactionId]), PATIENCE).toEqual(isToCome);
      expect(status(await bet.settle('30'))).toBe(200);
      bet.wallet.applyLate(bet.transactionId);
      expect(bet.balance()).toBe('920');
      await timeComes(bet, which === 'first' ? 'second' : 'first');
      expect(bet.balance()).toBe('930');
    },
  );

  it('a lost unsettle lands after a settle', async () => {
    const bet = await acceptedBet(gateway);
    expect(status(await bet.settle('20'))).toBe(200);
    lose(bet, 'unsettle');
    expect(status(await bet.unsettle())).toBe(503);
    expect(status(await bet.settle('30'))).toBe(200);
    bet.wallet.applyLate(bet.transactionId);
    expect(bet.balance()).toBe('900');
    await timeComes(bet, 'first');
    expect(bet.balance()).toBe('930');
  });

  it('a lost settle lands after an unsettle', async () => {
    const bet = await acceptedBet(gateway);
    lose(bet, 'settle');
    expect(status(await bet.settle('20'))).toBe(503);
    expect(status(await bet.unsettle())).toBe(200);
    bet.wallet.applyLate(bet.transactionId);
    expect(bet.balance()).toBe('920');
    await timeComes(bet, 'first');
    expect(bet.balance()).toBe('900');
  });

  it('a rollback over a lost settle is repeated at both times as well', async () => {
    const bet = await acceptedBet(gateway);
    lose(bet, 'settle');
    expect(status(await bet.settle('20'))).toBe(503);
    expect(status(await bet.rollback())).toBe(200);
    await timeComes(bet, 'first');
    await timeComes(bet, 'second');
    expect(bet.arrivals()).toEqual(['place', 'settle', 'rollback', 'rollback', 'rollback']);
  });

  it('a rollback over a lost place is repeated at both times: a late debit is refunded', async () => {
    const bet = await unplacedBet(gateway);
    lose(bet, 'place');
    expect((await bet.place()).json?.code).toBe(100);
    // A wallet without tombstones: nothing to roll back as yet.
    const { transactionId } = bet;
    bet.wallet.misbehave('rollback', { kind: 'code', code: 8 }, { transactionId, calls: 1 });
    expect((await bet.rollback()).json?.code).toBe(8);
    bet.wallet.applyLate(transactionId);
    expect(bet.balance()).toBe('900');
    await timeComes(bet, 'first');
    expect(bet.balance()).toBe('1000');
    await timeComes(bet, 'second');
    expect(bet.arrivals()).toEqual(['place', 'rollback', 'rollback', 'rollback']);
  });

  it('what a killed process left in flight may land late too, whatever it was', async () => {
    const bet = await acceptedBet(gateway);
    expect(status(await bet.settle('20'))).toBe(200);
    await bet.leaveBusy('settle');
    await endLeases(gateway, bet.transactionId);
    await expect.poll(async () => status(await bet.settle('20')), PATIENCE).toBe(200);
    await timeComes(bet, 'first');
    await timeComes(bet, 'second');
    expect(settlesOf(bet)).toEqual(['20', '20', '20', '20']);
  });

  it('nothing is sent where the late one would change nothing', async () => {
    const bet = await acceptedBet(gateway);
    lose(bet, 'settle');
    expect(status(await bet.settle('20'))).toBe(503);
    expect(status(await bet.settle('20.0'))).toBe(200);
    await timeComes(bet, 'first');
    await timeComes(bet, 'second');
    expect(settlesOf(bet)).toEqual(['20', '20.0']);
  });

  it('two different lost ones: what stands is sent, though it equals one of them', async () => {
    const bet = await acceptedBet(gateway);
    lose(bet, 'settle');
    expect(status(await bet.settle('20'))).toBe(503);
    lose(bet, 'settle');
    expect(status(await bet.settle('50'))).toBe(503);
    expect(status(await bet.settle('50'))).toBe(200);
    bet.wallet.applyLate(bet.transactionId);
    expect(status(await bet.settle('20'))).toBe(200);
    await timeComes(bet, 'first');
    expect(settlesOf(bet)).toEqual(['20', '50', '50', '20', '20']);
  });
});
