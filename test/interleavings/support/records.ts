import { setTimeout as sleep } from 'node:timers/promises';
import { BY } from '../../support/audit.ts';
import type { Lived } from './lived.ts';
import type { World } from './world.ts';

/** Others' statements keep the books from what was written last, for a moment. */
const BOOKED_WITHIN_MS = 2_000;

/** What the records say otherwise than it is: words of a forgotten player, the audit, the books. */
export async function recordsWrong(world: World, lived: Lived): Promise<readonly string[]> {
  const { slip, done, forgottenTo } = lived;
  const told = done.filter(({ answer }) => answer === 'forgotten').length;
  const audited = await world.look(
    'forgotten',
    `SELECT id::text FROM audit WHERE subject = 'player ' || $1 AND action = 'player.forgotten'`,
    [slip.userId],
  );
  const took = forgottenTo === undefined ? 0 : 1;
  const wrong =
    told <= took && audited.length === took
      ? []
      : [`forgotten: ${took}, told: ${told}, in the audit: ${audited.length}`];
  if (forgottenTo !== undefined) wrong.push(...(await wordsLeft(world, lived, forgottenTo)));
  wrong.push(...(await booksWrong(world, lived)));
  // Whatever was sent meanwhile goes too, once it has ended.
  const { kind } = await world.people.forgetNow(slip.userId, BY);
  if (kind === 'forgotten') wrong.push(...(await wordsLeft(world, lived)));
  return wrong;
}

async function wordsLeft(world: World, { slip }: Lived, to?: bigint): Promise<readonly string[]> {
  const left = await world.look(
    'words-left',
    `SELECT o.operation FROM operations o
      WHERE o.transaction_id = $1 AND o.id <= coalesce($2::bigint, o.id)
        AND (convert_from(o.body, 'UTF8') LIKE '%ann%' OR o.answer_body LIKE '%ann%'
             OR EXISTS (SELECT FROM attempts a WHERE a.operation_id = o.id
                           AND (a.wallet_body IS NOT NULL OR a.error LIKE '%ann%' OR a.answer_body LIKE '%ann%')))`,
    [slip.transactionId, to?.toString() ?? null],
  );
  const told = await world.look(
    'words-told',
    `SELECT place_message, rollback_message FROM bets
      WHERE transaction_id = $1 AND concat(place_message, rollback_message) LIKE '%ann%'`,
    [slip.transactionId],
  );
  return [
    ...left.map(({ operation }) => `the ${operation} of a forgotten player is left`),
    ...told.map(() => 'a refusal of a forgotten player is left'),
  ];
}

/** The books say what the wallet holds, unless another gateway or a person has put it there. */
async function booksWrong(world: World, lived: Lived): Promise<readonly string[]> {
  const { isPlacedElsewhere, done, wallet } = lived;
  if (isPlacedElsewhere || done.some(({ deed }) => deed === 'resolve' || deed === 'say')) return [];
  const { isHeld, result } = wallet.holding;
  const holds = `${isHeld ? -10 : 0} and ${isHeld ? (result ?? 0) : 0}`;
  const endsAtMs = performance.now() + BOOKED_WITHIN_MS;
  for (;;) {
    await world.book();
    const [sums] = await world.look(
      'booked',
      `SELECT coalesce(sum(amount) FILTER (WHERE kind IN ('stake', 'stake_return')), 0) || ' and ' ||
              coalesce(sum(amount) FILTER (WHERE kind IN ('payout', 'payout_reversal')), 0) AS booked
         FROM books_movements WHERE transaction_id = $1`,
      [lived.slip.transactionId],
    );
    if (sums?.booked === holds) return [];
    if (performance.now() >= endsAtMs) {
      return [`the books say ${sums?.booked}, the wallet holds ${holds}`];
    }
    await sleep(5);
  }
}
