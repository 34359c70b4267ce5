import { describe, it } from 'vitest';
import * as flawed from './support/flawed-wallets.ts';
import { failsItsCases, type Row } from './support/one-mistake.ts';
import * as second from './support/second-thoughts.ts';

const ofFreebets = (mistake: Row['mistake']) =>
  second.onlyOf(({ isFreebet }) => isFreebet, mistake);

const ROWS: readonly Row[] = [
  {
    wallet: 'debits the stake of an express bet for each outcome',
    mistake: second.debitsEachOutcome,
    failed: ['shape-express'],
  },
  {
    wallet: 'applies the booster to a payout once more',
    mistake: second.paysTheBoosterTwice,
    failed: ['shape-express'],
  },
  {
    wallet: 'pays nothing that is won at turbogames',
    mistake: second.paysNoTurbogames,
    failed: ['shape-turbogames'],
  },
  {
    wallet: 'gives no stake back where a lost bet is cancelled',
    mistake: second.ignoresChange('lost', 'refund'),
    failed: ['resettle-lost-refund'],
  },
  {
    wallet: 'leaves a refund that becomes a loss',
    mistake: second.ignoresChange('refund', 'lost'),
    failed: ['resettle-refund-lost'],
  },
  {
    wallet: 'leaves a cashout that becomes a loss',
    mistake: second.ignoresChange('cashout', 'lost'),
    failed: ['resettle-cashout-lost'],
  },
  {
    wallet: 'leaves a cashout that becomes a refund',
    mistake: second.ignoresChange('cashout', 'refund'),
    failed: ['resettle-cashout-refund'],
  },
  {
    wallet: 'pays a repeated refund again',
    mistake: second.paysRefundsAgain,
    failed: ['settle-refund-repeat'],
    verdict: 'fit_with_dialect',
  },
  {
    wallet: 'knows the first result of a bet again, and no later one',
    mistake: second.knowsFirstResults(),
    failed: ['settle-corrected-concurrent', 'settle-corrected-repeat', 'settle-second-repeat'],
    verdict: 'fit_with_dialect',
  },
  {
    wallet: 'takes a cashout back twice',
    mistake: second.unsettlesTwiceAfter('cashout'),
    failed: ['unsettle-other-twice'],
    verdict: 'fit_with_dialect',
  },
  {
    wallet: 'takes a refund back twice',
    mistake: second.unsettlesTwiceAfter('refund'),
    failed: ['unsettle-other-twice'],
    verdict: 'fit_with_dialect',
  },
  {
    wallet: 'refunds a settled bet twice',
    mistake: second.refundsTwiceAfter('settle'),
    failed: ['rollback-result-twice', 'rollback-settle-race'],
  },
  {
    wallet: 'refunds an unsettled bet twice',
    mistake: second.refundsTwiceAfter('unsettle'),
    failed: ['rollback-result-twice'],
  },
  {
    wallet: 'forgets at an update what a bet has paid',
    mistake: second.forgetsResultAtUpdate(),
    failed: ['update-settle-repeat', 'update-settled-rollback', 'update-then-unsettle'],
  },
  {
    wallet: 'forgets at an update what was staked',
    mistake: second.forgetsStakeAtUpdate(),
    failed: ['update-then-rollback'],
  },
  {
    wallet: 'leaves the payout of a freebet that is unsettled',
    mistake: ofFreebets(flawed.keepsUnsettledPayouts),
    failed: ['freebet-unsettle'],
  },
  {
    wallet: 'leaves the payout of a freebet beside its refund',
    mistake: ofFreebets(flawed.keepsPayoutOnRollback),
    failed: ['freebet-settled-rollback'],
  },
  {
    wallet: 'pays a repeated settle of a freebet again',
    mistake: ofFreebets(flawed.paysRepeatedSettles),
    failed: ['freebet-settle-repeat'],
    verdict: 'fit_with_dialect',
  },
  {
    wallet: 'refunds a freebet twice',
    mistake: ofFreebets(flawed.refundsTwice),
    failed: ['freebet-rollback-repeat'],
  },
];

describe('a wallet that books an ordinary bet correctly is caught by its treatment of others', () => {
  it.each(ROWS)('$wallet', failsItsCases);
});
