import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { rowsOf } from '../../support/server.ts';
import { bets, journal, lapse, stored, useBets } from './support/bets.ts';

useBets();

it.each([
  ['settle', 'none', 'several'],
  ['settle', 'promised', 'several'],
  ['settle', 'confirmed', 'settle'],
  [null, 'none', null],
] as const)(
  'a confirmation whose process was killed may land late as well: over %s, with rollback %s (I5)',
  async (before, rollback, after) => {
    const { transactionId } = await stored({
      busy: { operation: 'settle', attemptId: randomUUID(), lapsed: false },
    });
    const late = before === null ? 'NULL' : `'${before}'`;
    await journal.sql(
      `UPDATE bets SET busy_operation = 'confirm', late_kind = ${late}, rollback = '${rollback}', rollback_time = 'then',
              confirm_left = ${before === null ? 0 : 1}, late_amount = '5', late_type = 'won',
              late_at = clock_timestamp() - interval '1 hour'
        WHERE transaction_id = '${transactionId}'`,
    );
    await lapse({ transactionId });
    expect(await bets.recoverLapsed(10)).toMatchObject([{ operation: 'confirm' }]);
    const [row] = await rowsOf(
      journal.url,
      `SELECT late_kind, settlement, late_at > clock_timestamp() - interval '1 minute' AS is_new
         FROM bets WHERE transaction_id = '${transactionId}'`,
    );
    const isNew = after === 'several';
    expect(row).toEqual({ late_kind: after, settlement: 'none', is_new: isNew });
  },
);

it('a lost attempt is recovered beside a bet whose row cannot be read (I7)', async () => {
  const lost = async () => {
    const attemptId = randomUUID();
    const bet = await stored({ busy: { operation: 'settle', attemptId, lapsed: false } });
    await lapse(bet);
    return bet;
  };
  const [odd, sound] = [await lost(), await lost()];
  await journal.sql(
    `UPDATE bets SET settlement = 'settled', settlement_amount = NULL WHERE transaction_id = $1`,
    [odd.transactionId],
  );
  const recovered = await bets.recoverLapsed(10);
  expect(recovered.map(({ transactionId }) => transactionId)).toEqual([sound.transactionId]);
});
