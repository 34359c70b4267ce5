import { describe, it } from 'vitest';
import * as flawed from './support/flawed-wallets.ts';
import { failsItsCases, type Row } from './support/one-mistake.ts';

const SETTLED_ROLLED_BACK = [
  'freebet-settled-rollback',
  'rollback-after-settle',
  'rollback-cashed-out',
  'rollback-concurrent-results',
  'rollback-corrected',
  'rollback-lost',
  'rollback-settle-race',
  'update-settled-rollback',
];

const ROWS: readonly Row[] = [
  {
    wallet: 'adds a changed result to the first',
    mistake: flawed.addsResettles,
    failed: [
      'resettle-back',
      'resettle-cashout-lost',
      'resettle-cashout-refund',
      'resettle-cashout-won',
      'resettle-concurrent-bets',
      'resettle-down',
      'resettle-refund-lost',
      'resettle-refund-won',
      'resettle-spent-payout',
      'resettle-up',
      'resettle-won-refund',
      'resettle-zero',
      'settle-corrected-concurrent',
    ],
  },
  {
    wallet: 'leaves payouts that are undone',
    mistake: flawed.keepsUnsettledPayouts,
    failed: [
      'freebet-unsettle',
      'shape-concurrent-lives',
      'shape-journey',
      'unsettle-after-resettle',
      'unsettle-again',
      'unsettle-cashout',
      'unsettle-concurrent',
      'unsettle-other-amount',
      'unsettle-refund',
      'unsettle-rollback',
      'unsettle-settle-again',
      'unsettle-settle-lost',
      'unsettle-settle-refund',
      'unsettle-spent-payout',
      'unsettle-twice',
      'unsettle-won',
      'update-then-unsettle',
    ],
  },
  {
    wallet: 'leaves the payout beside the refund',
    mistake: flawed.keepsPayoutOnRollback,
    failed: [
      'freebet-settled-rollback',
      'rollback-after-settle',
      'rollback-cashed-out',
      'rollback-concurrent-results',
      'rollback-corrected',
      'rollback-refunded',
      'rollback-settle-race',
      'update-settled-rollback',
    ],
    warned: ['rollback-spent-payout'],
  },
  {
    wallet: 'calls the rollback of a settled bet processed, by code 8',
    mistake: flawed.ignoresRollbackOfSettled(8),
    failed: SETTLED_ROLLED_BACK,
    warned: ['rollback-spent-payout'],
  },
  {
    wallet: 'refuses the rollback of a settled bet',
    mistake: flawed.ignoresRollbackOfSettled(5),
    failed: SETTLED_ROLLED_BACK,
    warned: ['rollback-spent-payout'],
  },
];

describe('a wallet with one mistake about results fails the cases about that mistake, and no others', () => {
  it.each(ROWS)('$wallet', failsItsCases);
});
