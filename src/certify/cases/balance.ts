import { sameAmount } from '../../domain/amount.ts';
import { type Case, group } from '../case.ts';
import { amountIn } from '../money.ts';
import type { Trial } from '../trial.ts';
import { unknownToken } from './profile.ts';

const RULE = 'docs/protocol.md, User balance';

/** A player that no wallet has. */
export const NOBODY = 'certify-nobody';
/** ISO 4217's code for tests: nobody has an account in it. */
export const NO_CURRENCY = 'XTS';

async function documentOfBalance(trial: Trial) {
  const sighting = await trial.balance();
  if (!trial.accepts(sighting) || sighting.meaning.kind !== 'accepted') return undefined;
  return sighting.meaning.document;
}

export const balanceCases: readonly Case[] = group('balance', { rule: RULE, money: false }, [
  {
    id: 'balance-amount',
    title: 'The balance is a number',
    expected: 'amount is a JSON number',
    run: async (trial) => {
      const document = await documentOfBalance(trial);
      if (document === undefined) return;
      if (document.numberText('amount') === undefined) trial.fail('amount is not a JSON number');
    },
  },
  {
    id: 'balance-user',
    title: "The balance names the profile's player",
    expected: 'userId is the one of the profile',
    run: async (trial) => {
      const document = await documentOfBalance(trial);
      if (document === undefined || document.value.userId === trial.player.userId) return;
      trial.fail(`userId is not the text ${trial.player.userId}`);
    },
  },
  {
    id: 'balance-currency',
    title: 'The balance names its currency',
    expected: 'currency is the one that was asked for',
    run: async (trial) => {
      const document = await documentOfBalance(trial);
      if (document === undefined || document.value.currency === trial.player.currency) return;
      trial.fail(`currency is not ${trial.player.currency}`);
    },
  },
  {
    id: 'balance-steady',
    title: 'The balance stays while nothing happens',
    expected: 'two balances are the same amount',
    run: async (trial) => {
      const first = amountIn((await trial.balance()).meaning);
      const second = amountIn((await trial.balance()).meaning);
      if (first === undefined || second === undefined) trial.fail('the balance cannot be read');
      else if (!sameAmount(first, second)) {
        trial.fail(`the balance went from ${first} to ${second}: does somebody else play?`);
      }
    },
  },
  {
    id: 'balance-token-unknown',
    title: 'A balance for an unknown token is refused',
    rule: 'docs/protocol.md, What the service does 5; Error codes',
    expected: '400 with code 3 (or 4), so that the player logs in again',
    run: async (trial) => {
      trial.refuses(await trial.balance({ token: unknownToken() }), [3, 4]);
    },
  },
  {
    id: 'balance-other-user',
    title: 'A token tells the balance of its own player only',
    rule: 'docs/protocol.md, Authentication 1',
    expected: '400 with code 3 to a userId that is not of the token',
    run: async (trial) => {
      const userId = trial.context.other?.userId ?? NOBODY;
      const sighting = await trial.balance({ userId });
      const { meaning } = sighting;
      const named = meaning.kind === 'accepted' ? meaning.document?.value.userId : undefined;
      if (named === trial.player.userId) {
        trial.warn(
          'the userId of the request is ignored: the balance is of the player of the token',
        );
      } else trial.refuses(sighting, [3, 4, 5], 'warn');
    },
  },
  {
    id: 'balance-other-currency',
    title: 'A token is good for its own currency only',
    rule: 'docs/protocol.md, Multi-currency rules 4',
    expected: `400 with code 3 to ${NO_CURRENCY}, a currency that nobody has`,
    run: async (trial) => {
      const sighting = await trial.balance({ currency: NO_CURRENCY });
      const { meaning } = sighting;
      const named = meaning.kind === 'accepted' ? meaning.document?.value.currency : undefined;
      if (named === trial.player.currency) {
        trial.warn('the currency of the request is ignored: the balance is in that of the token');
      } else trial.refuses(sighting, [3, 4, 5], 'warn');
    },
  },
]);
