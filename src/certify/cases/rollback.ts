import { addAmounts } from '../../domain/amount.ts';
import { ROLLBACK_REASONS } from '../../domain/codes.ts';
import { type Case, group } from '../case.ts';
import { NOBODY } from './balance.ts';

const RULE = 'docs/protocol.md, Rollback';
const ONCE = 'docs/protocol.md, Rollback (refund at most once per bet)';
const RACE = 'docs/protocol.md, Rollback (a rollback may arrive before the place bet)';
const FENCED = 'docs/protocol.md, Error codes (8, already processed)';

const COPIES = 5;
const RACES = 4;

export const rollbackCases: readonly Case[] = group('rollback', { rule: RULE, money: true }, [
  {
    id: 'rollback-once',
    title: 'A rollback refunds the stake',
    expected: '200, the balance is what it was',
    run: async (trial) => {
      const slip = await trial.placed({ amount: '3' });
      trial.confirms(await trial.rollback(slip));
      await trial.movedNothing('a bet rolled back');
    },
  },
  {
    id: 'rollback-twice',
    title: 'The same rollback again refunds once',
    rule: ONCE,
    expected: '200 (or 400 with code 8), the balance rises once',
    run: async (trial) => {
      const slip = await trial.placed({ amount: '3' });
      const first = await trial.rollback(slip);
      trial.confirms(first);
      trial.confirms(await trial.rollback(slip, 50, trial.repeatOf(first)));
      await trial.movedNothing('the same rollback again');
    },
  },
  {
    id: 'rollback-concurrent',
    title: `${COPIES} copies of one rollback at the same time refund once`,
    rule: ONCE,
    expected: 'the balance rises once',
    run: async (trial) => {
      const slip = await trial.placed({ amount: '3' });
      await Promise.all(Array.from({ length: COPIES }, () => trial.rollback(slip)));
      trial.confirms(await trial.rollback(slip));
      await trial.movedNothing(`${COPIES} copies of one rollback`);
    },
  },
  {
    id: 'rollback-unknown',
    title: 'A rollback of an unknown bet is confirmed',
    rule: 'docs/protocol.md, Rollback (200 when no such bet exists)',
    expected: '200 (or 400 with code 8), nothing refunded',
    run: async (trial) => {
      trial.confirms(await trial.rollback(trial.slip()));
      await trial.movedNothing('a rollback of an unknown bet');
    },
  },
  {
    id: 'rollback-unknown-twice',
    title: 'A rollback of an unknown bet is confirmed again',
    rule: 'docs/protocol.md, Rollback (200 when no such bet exists); Retries',
    expected: '200 (or 400 with code 8) each time, nothing refunded',
    run: async (trial) => {
      const slip = trial.slip();
      const first = await trial.rollback(slip);
      trial.confirms(first);
      trial.confirms(await trial.rollback(slip, 50, trial.repeatOf(first)));
      await trial.movedNothing('two rollbacks of an unknown bet');
    },
  },
  {
    id: 'rollback-before-place',
    title: 'A place that comes after its rollback is refused',
    rule: `${RACE}; ${FENCED}`,
    expected: '400 with code 8, nothing debited',
    run: async (trial) => {
      const slip = trial.slip();
      await trial.rollback(slip);
      trial.refuses(await trial.place(slip), [8, 5], 'warn');
      await trial.movedNothing('a place after its rollback');
    },
  },
  {
    id: 'rollback-place-race',
    title: 'A rollback at the same time as its place leaves no debit',
    rule: RACE,
    expected: `after each of ${RACES} races the rollback is confirmed and nothing is debited`,
    run: async (trial) => {
      for (let race = 0; race < RACES; race += 1) {
        const slip = trial.slip();
        await Promise.all([trial.place(slip), trial.rollback(slip)]);
        trial.confirms(await trial.rollback(slip));
      }
      await trial.movedNothing('places raced by their rollbacks');
    },
  },
  {
    id: 'rollback-place-again',
    title: 'A bet that was rolled back cannot be placed again',
    rule: FENCED,
    expected: '400 with code 8, nothing debited',
    run: async (trial) => {
      const slip = await trial.placed();
      trial.confirms(await trial.rollback(slip));
      trial.refuses(await trial.place(slip), [8, 5], 'warn');
      await trial.movedNothing('a place after it was rolled back');
    },
  },
  {
    id: 'rollback-declined-place',
    title: 'A rollback of a declined place refunds nothing',
    rule: 'docs/protocol.md, Rollback (200 when nothing is to be refunded)',
    expected: '200 (or 400 with code 8), nothing refunded',
    run: async (trial) => {
      const slip = trial.slip({ amount: addAmounts(await trial.open(), '1') });
      await trial.place(slip);
      trial.confirms(await trial.rollback(slip));
      await trial.movedNothing('a rollback of a declined place');
    },
  },
  {
    id: 'rollback-after-settle',
    title: 'A rollback of a settled bet leaves no payout beside the refund',
    rule: 'docs/protocol.md, Bet lifecycle (rolled back from waiting; after a settle: not shown)',
    expected: 'either confirmed, and stake and payout both undone; or refused, and nothing moves',
    run: async (trial) => {
      const slip = await trial.placed();
      trial.accepts(await trial.won(slip, '3'));
      const { meaning } = await trial.rollback(slip);
      if (meaning.kind === 'accepted') await trial.movedNothing('a settled bet rolled back');
      else await trial.moved('2', 'a settled bet whose rollback was refused');
    },
  },
  {
    id: 'rollback-error-codes',
    title: 'A rollback is taken whatever its errorCode',
    rule: 'docs/protocol.md, Rollback error codes',
    expected: '200 to each documented errorCode, each stake refunded',
    run: async (trial) => {
      for (const errorCode of Object.values(ROLLBACK_REASONS)) {
        trial.confirms(await trial.rollback(await trial.placed(), errorCode));
      }
      await trial.movedNothing('one rollback for each errorCode');
    },
  },
  {
    id: 'rollback-without-token',
    title: 'A rollback does not need a token',
    rule: 'docs/protocol.md, Rollback (verify signature, find the bet by transactionId)',
    expected: '200 although the session and its token are gone, the stake refunded',
    run: async (trial) => {
      const slip = await trial.placed();
      const sighting = await trial.rollback(slip, 50, { more: { token: undefined } });
      if (sighting.meaning.kind === 'accepted')
        return void (await trial.movedNothing('a rollback'));
      trial.warn('refused; the gateway leaves the token out only where it does not know the bet');
    },
  },
  {
    id: 'rollback-other-user',
    title: "A rollback that names another player does not undo the bet's",
    expected: '400 with code 5, nothing refunded',
    run: async (trial) => {
      const slip = await trial.placed();
      const userId = trial.context.other?.userId ?? NOBODY;
      const { meaning } = await trial.rollback({ ...slip, userId });
      if (meaning.kind !== 'accepted') return void (await trial.moved('-1', 'a foreign rollback'));
      trial.warn('another userId was accepted');
    },
  },
]);
