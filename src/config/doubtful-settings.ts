import { WALLET_BUDGET_MS_MIN } from '../domain/deadline.ts';
import { type Problem, problemIn } from './problems.ts';
import type { OperatorConfig } from './schema.ts';

/** Settings that are taken as they stand, and most likely not what somebody meant. */
export function doubtfulSettings({ id, wallet, currencies }: OperatorConfig): readonly Problem[] {
  const file = `operators/${id}.yaml`;
  const { timeoutMs } = wallet;
  // Seconds for milliseconds: each place would be debited, given up, and rolled back.
  const tooShort = `gives the wallet ${timeoutMs} ms, after which a bet that it may have debited is rolled back: it is in milliseconds`;
  return [
    ...(timeoutMs >= WALLET_BUDGET_MS_MIN
      ? []
      : [problemIn(file, { path: ['wallet', 'timeoutMs'], reason: tooShort })]),
    ...currencies.flatMap((currency, at) =>
      /^[a-z]{3}$/.test(currency)
        ? problemIn(file, {
            path: ['currencies', at],
            reason: `is another currency than ${currency.toUpperCase()}: codes are compared exactly`,
          })
        : [],
    ),
  ];
}
