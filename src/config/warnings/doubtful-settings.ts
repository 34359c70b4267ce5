import { WALLET_BUDGET_MS_MIN } from '../../domain/deadline.ts';
import { type Problem, problemIn } from '../problems.ts';
import type { OperatorConfig } from '../schema/schema.ts';

/** Settings that are valid, but most likely a mistake. */
export function doubtfulSettings({ id, wallet, currencies }: OperatorConfig): readonly Problem[] {
  const file = `operators/${id}.yaml`;
  const { timeoutMs } = wallet;
  // Seconds instead of milliseconds: each place would be debited, time out, and be rolled back.
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
