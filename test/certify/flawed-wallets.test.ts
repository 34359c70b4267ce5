import { describe, expect, it } from 'vitest';
import { certification, ids, sandbox } from './support/certification.ts';
import * as flawed from './support/flawed-wallets.ts';
import * as mistaking from './support/mistaken-identity.ts';
import { failsItsCases, type Row } from './support/one-mistake.ts';

const ROWS: readonly Row[] = [
  {
    wallet: 'debits duplicates',
    mistake: flawed.debitsDuplicates,
    failed: [
      'freebet-duplicate',
      'place-duplicate',
      'place-duplicate-concurrent',
      'place-duplicate-new-request',
    ],
    verdict: 'fit',
    dialect: {},
  },
  {
    wallet: 'lends money',
    mistake: flawed.lends,
    failed: [
      'place-concurrent-overdraw',
      'place-exact-balance',
      'place-not-enough',
      'shape-journey',
    ],
    dialect: {},
  },
  {
    wallet: 'takes any token',
    mistake: mistaking.ignoresTokens,
    failed: ['place-token-missing', 'place-token-unknown'],
  },
  {
    wallet: 'answers duplicates with code 9',
    mistake: flawed.shiftsDuplicates(9),
    failed: ['place-duplicate-answer'],
    warned: ['place-two-players'],
    verdict: 'fit',
    dialect: { mapCodes: { place: { 9: 8 } } },
  },
  {
    wallet: 'pays a repeated settle again',
    mistake: flawed.paysRepeatedSettles,
    failed: [
      'freebet-settle-repeat',
      'settle-cashout-repeat',
      'settle-corrected-concurrent',
      'settle-corrected-repeat',
      'settle-late-repeat',
      'settle-refund-repeat',
      'settle-repeat',
      'settle-repeat-concurrent',
      'settle-repeat-same-request',
      'settle-second-repeat',
      'update-settle-repeat',
    ],
    warned: ['resettle-same-amount'],
    verdict: 'fit_with_dialect',
  },
  {
    wallet: 'pays a repeated cashout again',
    mistake: flawed.paysRepeatedCashouts,
    failed: ['settle-cashout-repeat'],
    dialect: { unknownRepeats: 'hold' },
  },
  {
    wallet: 'identifies by requestId',
    mistake: flawed.identifiesByRequestId(),
    failed: [
      'freebet-settle-repeat',
      'settle-cashout-repeat',
      'settle-corrected-repeat',
      'settle-late-repeat',
      'settle-refund-repeat',
      'settle-repeat',
      'settle-second-repeat',
      'update-settle-repeat',
    ],
    warned: ['resettle-same-amount'],
    verdict: 'fit_with_dialect',
  },
  {
    wallet: 'cashes out without a token',
    mistake: mistaking.cashesOutWithoutToken,
    failed: ['settle-cashout-no-token'],
    verdict: 'fit',
  },
  {
    wallet: 'demands a token to settle',
    mistake: mistaking.demandsTokenOnSettle,
    failed: ['settle-won'],
    dialect: { alwaysSendToken: true },
  },
  {
    wallet: 'undoes a payout twice',
    mistake: flawed.unsettlesTwice,
    failed: ['unsettle-concurrent', 'unsettle-other-twice', 'unsettle-twice'],
    dialect: { unknownRepeats: 'hold' },
  },
  {
    wallet: 'refunds twice',
    mistake: flawed.refundsTwice,
    failed: [
      'freebet-rollback-repeat',
      'rollback-concurrent',
      'rollback-late-repeat',
      'rollback-place-race',
      'rollback-result-twice',
      'rollback-settle-race',
      'rollback-twice',
    ],
    dialect: {},
  },
  {
    wallet: 'refunds bets it never had',
    mistake: flawed.refundsUnknownBets,
    failed: [
      'rollback-before-place',
      'rollback-declined-place',
      'rollback-late-repeat',
      'rollback-unknown',
      'rollback-unknown-twice',
    ],
  },
  {
    wallet: 'confirms rollbacks and refunds nothing',
    mistake: flawed.neverRefunds,
    failed: [
      'freebet-rollback',
      'rollback-concurrent',
      'rollback-concurrent-bets',
      'rollback-ended-token',
      'rollback-error-codes',
      'rollback-larger-amount',
      'rollback-late-repeat',
      'rollback-once',
      'rollback-other-user',
      'rollback-place-again',
      'rollback-place-race',
      'rollback-then-settle',
      'rollback-then-unsettle',
      'rollback-twice',
      'rollback-without-token',
      'shape-concurrent-lives',
      'shape-express',
      'shape-journey',
      'shape-optional-members',
      'shape-turbogames',
      'unsettle-rollback',
      'update-after-rollback',
      'update-then-rollback',
    ],
    dialect: {},
  },
  {
    wallet: 'forgets a rollback that came before its place',
    mistake: flawed.forgetsEarlyRollbacks,
    failed: ['rollback-before-place', 'rollback-late-repeat'],
  },
  {
    wallet: 'places again what was rolled back',
    mistake: flawed.placesAgainAfterRollback,
    failed: ['rollback-late-repeat', 'rollback-place-again'],
  },
  {
    wallet: 'refuses rollbacks of unknown bets with 400 and 5',
    mistake: flawed.refusesUnknownRollbacks,
    failed: ['rollback-declined-place', 'rollback-unknown', 'rollback-unknown-twice'],
    dialect: { rollbackConfirmedBy: [5] },
  },
  {
    wallet: 'answers rollbacks of unknown bets with 404',
    mistake: flawed.missesUnknownRollbacks,
    failed: ['rollback-declined-place', 'rollback-unknown', 'rollback-unknown-twice'],
    dialect: { errorStatuses: { 404: 'body' }, rollbackConfirmedBy: [5] },
  },
  {
    wallet: 'debits updates',
    mistake: flawed.debitsUpdates,
    failed: [
      'shape-journey',
      'update-after-rollback',
      'update-after-settle',
      'update-before-settle',
      'update-beside-places',
      'update-once',
      'update-settled-rollback',
      'update-then-rollback',
      'update-then-unsettle',
      'update-twice',
    ],
  },
  // Mistakes of other people's wallets that an earlier kit missed.
  {
    wallet: 'keeps cashouts that are undone',
    mistake: flawed.keepsUnsettledCashouts,
    failed: ['unsettle-cashout'],
  },
  {
    wallet: 'pays a bet lost after an unsettle',
    mistake: flawed.paysLostAfterUnsettle(),
    failed: ['shape-concurrent-lives', 'shape-journey', 'unsettle-settle-lost'],
  },
  {
    wallet: 'refunds too much after an unsettle',
    mistake: flawed.paysRefundTwiceAfterUnsettle(),
    failed: ['unsettle-settle-refund'],
  },
  {
    wallet: 'pays a win beside the cashout',
    mistake: flawed.addsWinToCashout,
    failed: ['resettle-cashout-lost', 'resettle-cashout-refund', 'resettle-cashout-won'],
  },
  {
    wallet: 'pays a bet that was rolled back',
    mistake: flawed.paysAfterRollback,
    failed: ['rollback-then-settle'],
  },
  {
    wallet: 'takes from a bet that was rolled back',
    mistake: flawed.takesAfterRollback,
    failed: ['rollback-then-unsettle'],
  },
  {
    wallet: 'refunds what a rollback names',
    mistake: flawed.refundsNamedAmount,
    failed: ['rollback-larger-amount'],
  },
  {
    wallet: 'loses money only at the end of a life',
    mistake: flawed.paysLostOnThirdResult(),
    failed: ['shape-journey'],
  },
  {
    wallet: 'tells real tokens by their length',
    mistake: mistaking.knowsTokensByLength,
    failed: ['place-token-unknown'],
  },
  {
    wallet: "debits the holder of another player's token",
    mistake: mistaking.debitsHolderOfToken,
    failed: ['place-other-token'],
    other: true,
  },
  {
    wallet: 'pays and refunds whom a call names',
    mistake: mistaking.paysWhomItNames,
    failed: ['rollback-other-user', 'settle-other-user'],
    other: true,
  },
];

describe('a wallet with one mistake fails the cases about that mistake', () => {
  it.each(ROWS)('$wallet', failsItsCases);

  it('loses payouts that come at the same time', async () => {
    const { answerAfterMs, ...mistake } = flawed.losesConcurrentPayouts();
    const wallet = await sandbox(mistake);
    wallet.misbehave('settle', { kind: 'delay', ms: answerAfterMs });
    const certificate = await certification(wallet, { only: ['settle', 'shape'] });
    expect(ids(certificate, 'failed')).toEqual([
      'settle-concurrent-bets',
      'shape-concurrent-lives',
    ]);
    expect(certificate.verdict).toBe('not_fit');
  });

  it('takes any number for a player, where its own has one', async () => {
    const wallet = await sandbox(mistaking.knowsPlayersByDigits('1999'));
    wallet.addPlayer({
      user: '1999',
      isTest: true,
      balances: { USD: '1000' },
      tokens: { 'no-1999-token': 'USD' },
    });
    const player = { userId: '1999', token: 'no-1999-token', currency: 'USD' };
    const certificate = await certification(wallet, { player, only: ['place'] });
    // Also for a wallet that accepts a transactionId twice.
    expect(ids(certificate, 'failed')).toEqual(['place-token-other-user', 'place-two-players']);
  });
});
