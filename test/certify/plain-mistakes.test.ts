import { describe, expect, it } from 'vitest';
import { type FailureMeaning, isBlocking } from '../../src/certify/trial/failure-meaning.ts';
import { certification, sandbox, second, type Wishes } from './support/certification.ts';
import { debitsNothing } from './support/flawed-wallets.ts';
import * as later from './support/later-results.ts';
import type { Mistake } from './support/mistake.ts';
import * as plain from './support/plain-mistakes.ts';

/** A case, a wallet that it must find, and what that means. */
type Row = readonly [
  found: string,
  mistake: Mistake,
  verdict: 'failed' | 'warned',
  meaning: FailureMeaning,
  wishes?: Wishes,
];

const ROWS: readonly Row[] = [
  [
    'profile-currency',
    plain.saysLater('profile', () => ({ currency: 'EUR' })),
    'failed',
    'costs_money',
  ],
  ['profile-user', plain.saysLater('profile', () => ({ userId: 'anne' })), 'failed', 'costs_money'],
  [
    'profile-constant',
    plain.saysLater('profile', (_, times) => ({ userId: `ann-${times}` })),
    'failed',
    'costs_money',
  ],
  ['profile-is-test', plain.saysLater('profile', () => ({ isTest: 'true' })), 'failed', 'cosmetic'],
  ['profile-is-test', plain.saysLater('profile', () => ({ isTest: null })), 'failed', 'cosmetic'],
  [
    'profile-currencies',
    plain.saysLater('profile', () => ({ currencies: null })),
    'failed',
    'cosmetic',
  ],
  [
    'profile-currencies',
    plain.saysLater('profile', () => ({ currencies: undefined })),
    'failed',
    'cosmetic',
  ],
  [
    'profile-custom-fields',
    plain.saysLater('profile', () => ({ customFields: 'none' })),
    'failed',
    'cosmetic',
  ],
  [
    'profile-custom-fields',
    plain.saysLater('profile', () => ({ customFields: null })),
    'failed',
    'cosmetic',
  ],
  ['profile-token-unknown', plain.tellsAnybody, 'failed', 'lets_somebody_in'],
  ['balance-user', plain.saysLater('balance', () => ({ userId: 'a' })), 'failed', 'absorbed'],
  ['balance-user', plain.saysLater('balance', () => ({ userId: undefined })), 'failed', 'absorbed'],
  [
    'balance-currency',
    plain.saysLater('balance', () => ({ currency: 'EUR' })),
    'failed',
    'costs_money',
  ],
  [
    'balance-currency',
    plain.saysLater('balance', () => ({ currency: undefined })),
    'failed',
    'cosmetic',
  ],
  [
    'balance-steady',
    plain.saysLater('balance', (_, times) => ({ amount: times })),
    'failed',
    'costs_money',
  ],
  ['balance-token-unknown', plain.tellsAnybody, 'failed', 'lets_somebody_in'],
  ['balance-other-currency', plain.tellsAnybody, 'failed', 'absorbed'],
  ['balance-other-currency', plain.ignoresCurrencies, 'warned', 'absorbed'],
  ['place-enough', debitsNothing, 'failed', 'costs_money'],
  ['place-concurrent', debitsNothing, 'failed', 'costs_money'],
  ['place-zero', plain.takesOneForNothing, 'failed', 'costs_money'],
  ['place-zero', plain.breaksOnNothing, 'failed', 'absorbed'],
  ['place-negative', plain.acceptsTheUnreadable, 'failed', 'absorbed'],
  ['place-method', plain.acceptsTheUnreadable, 'warned', 'absorbed'],
  ['place-same-id-other-amount', plain.takesAnyPlace, 'failed', 'absorbed'],
  [
    'settle-other-coefficient',
    plain.refusesBodiesWith('"coefficient":1,'),
    'failed',
    'costs_money',
  ],
  ['shape-express', plain.refusesBodiesWith('"eventDate":"2026-11-20T'), 'failed', 'costs_money'],
  [
    'shape-express',
    plain.refusesBodiesWith('"tournamentRegionCode":null'),
    'failed',
    'costs_money',
  ],
  ['shape-express', plain.refusesBodiesWith('Outcome 17 of 20'), 'failed', 'costs_money'],
  ['settle-refund', plain.paysNoRefund, 'failed', 'costs_money'],
  ['settle-cashout', plain.refusesCashouts, 'failed', 'costs_money'],
  ['settle-cashout-unknown-token', plain.cashesOutByAnyToken, 'failed', 'absorbed'],
  ['settle-cashout-other-token', plain.cashesOutByAnyToken, 'failed', 'lets_somebody_in'],
  ['settle-unknown-bet', plain.paysUnknownBets, 'failed', 'costs_money'],
  ['settle-lost-repeat', plain.refusesLostAgain, 'failed', 'costs_money_when_an_answer_is_lost'],
  ['resettle-from-zero', plain.forgetsLostBets, 'failed', 'costs_money'],
  ['unsettle-lost', plain.refusesToUnsettleLost, 'failed', 'costs_money'],
  ['unsettle-before-settle', plain.takesWhatWasNotPaid('unsettled'), 'failed', 'costs_money'],
  ['unsettle-unknown-bet', plain.takesWhatWasNotPaid('unknown'), 'failed', 'costs_money'],
  ['resettle-won-refund', later.adds('won', 'refund'), 'failed', 'costs_money'],
  ['resettle-refund-won', later.adds('refund', 'won'), 'failed', 'costs_money'],
  ['unsettle-refund', later.keeps('refund', 'unsettle'), 'failed', 'costs_money'],
  ['unsettle-after-resettle', later.takesFirstPayoutBack('unsettle'), 'failed', 'costs_money'],
  ['unsettle-again', later.unsettlesOnce(), 'failed', 'costs_money'],
  ['rollback-lost', later.keepsLostStakes, 'failed', 'costs_money'],
  ['rollback-refunded', later.keeps('refund', 'rollback'), 'failed', 'costs_money'],
  ['rollback-cashed-out', later.refusesCashedOut, 'failed', 'costs_money'],
  ['rollback-corrected', later.takesFirstPayoutBack('rollback'), 'failed', 'costs_money'],
  ['freebet-won', plain.paysWinningsAlone, 'failed', 'costs_money'],
  ['freebet-lost', plain.returnsLostStakes, 'failed', 'costs_money'],
  ['currency-other-place', plain.takesAnyPlace, 'failed', 'absorbed'],
  ['currency-configured', {}, 'warned', 'cosmetic', { currencies: ['USD'] }],
  ['currency-exact-payout', plain.paysWholeCoins, 'failed', 'costs_money'],
  ['currency-cents', plain.countsWholeCoins, 'failed', 'costs_money'],
  ['signature-unicode', plain.refusesBodiesWith('"event":"Zürich'), 'failed', 'costs_money'],
  ['shape-unknown-fields', plain.refusesBodiesWith('"newMember"'), 'failed', 'costs_money'],
  ['shape-express', plain.refusesBodiesWith('"express"'), 'failed', 'costs_money'],
  ['shape-express', plain.refusesBodiesWith('"coefficient":123456'), 'failed', 'costs_money'],
  ['shape-optional-members', plain.refusesBodiesWith('"ip":"2001:'), 'failed', 'costs_money'],
  ['shape-optional-members', plain.refusesPlacesWithout('"metadata"'), 'failed', 'costs_money'],
  ['shape-turbogames', plain.refusesBodiesWith('"turbogames"'), 'failed', 'costs_money'],
  ['shape-not-json', plain.acceptsTheUnreadable, 'failed', 'absorbed'],
  ['shape-not-json', plain.breaksOnTheUnreadable, 'warned', 'absorbed'],
  ['shape-missing-id', plain.acceptsTheUnreadable, 'failed', 'absorbed'],
  ['shape-missing-id', plain.breaksOnTheUnreadable, 'warned', 'absorbed'],
  ['currency-exponent', plain.cutsExponents, 'failed', 'costs_money'],
  ['resettle-lost-refund', plain.ignoresCancelledLosses, 'failed', 'costs_money'],
  [
    'settle-refused-before',
    plain.repeatsOldAnswers(),
    'failed',
    'costs_money_when_an_answer_is_lost',
  ],
  ['shape-clock', plain.clockOff(-6), 'warned', 'cosmetic'],
];

describe('a mistake that shows in an ordinary call is found by the case about it', () => {
  it.for(ROWS)('%s', async ([id, mistake, verdict, meaning, wishes = {}]) => {
    const wallet = await sandbox(mistake);
    const other = second(wallet);
    const certificate = await certification(wallet, { only: [id], other, ...wishes });
    expect(certificate.findings.map((one) => [one.case, one.verdict, one.meaning])).toEqual([
      [id, verdict, meaning],
    ]);
    const isInTheWay = verdict === 'failed' && isBlocking(meaning);
    expect(certificate.verdict).toBe(isInTheWay ? 'not_fit' : 'fit');
  });
});
