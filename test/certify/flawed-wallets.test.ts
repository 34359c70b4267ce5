import { describe, expect, it } from 'vitest';
import type { Fitness } from '../../src/certify/certificate.ts';
import { FAILURE_MEANINGS, type FailureMeaning } from '../../src/certify/failure-meaning.ts';
import type { Operation } from '../../src/domain/operation.ts';
import type { Misbehaviour } from '../../tools/simulator/wallet/misbehaviour.ts';
import { certification, ids, sandbox, second } from './support/certification.ts';
import * as flawed from './support/flawed-wallets.ts';

interface Row {
  readonly wallet: string;
  readonly mistake: flawed.Mistake;
  readonly failed: readonly string[];
  readonly warned?: readonly string[];
  readonly verdict?: Fitness;
  /** Beside a second player. */
  readonly other?: true;
}

const ROWS: readonly Row[] = [
  {
    wallet: 'accepts any signature',
    mistake: flawed.acceptsAnySignature,
    failed: [
      'signature-foreign-balance',
      'signature-foreign-place',
      'signature-foreign-profile',
      'signature-foreign-rollback',
      'signature-foreign-settle',
      'signature-missing-balance',
      'signature-missing-place',
      'signature-no-algorithm',
      'signature-other-body',
      'signature-tampered-place',
    ],
  },
  {
    // What is written otherwise than it would write it: `2.50`, an escaped letter, a space.
    wallet: 'verifies the JSON as it would serialise it',
    mistake: flawed.reserialises,
    failed: ['currency-trailing-zero', 'signature-unicode'],
    warned: ['signature-whitespace'],
  },
  {
    wallet: 'wants alg first in the header',
    mistake: flawed.wantsAlgFirst,
    failed: [],
    warned: ['signature-header-order'],
    verdict: 'fit',
  },
  {
    wallet: 'wants x-sign too',
    mistake: flawed.needsXSign,
    failed: ['signature-good'],
    verdict: 'fit_with_dialect',
  },
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
  },
  {
    wallet: 'takes any token',
    mistake: flawed.ignoresTokens,
    failed: ['place-token-missing', 'place-token-unknown'],
  },
  {
    wallet: 'answers duplicates with code 9',
    mistake: flawed.shiftsDuplicates(9),
    failed: ['place-duplicate-answer'],
    warned: ['place-two-players'],
    verdict: 'fit',
  },
  {
    wallet: 'has another code for too little money',
    mistake: flawed.answersNotEnoughAs(5),
    failed: ['place-concurrent-overdraw', 'place-exact-balance', 'place-not-enough'],
    verdict: 'fit',
  },
  {
    wallet: 'pays a repeated settle again',
    mistake: flawed.paysRepeatedSettles,
    failed: [
      'settle-cashout-repeat',
      'settle-repeat',
      'settle-repeat-concurrent',
      'settle-repeat-same-request',
    ],
    verdict: 'fit_with_dialect',
  },
  {
    wallet: 'pays a repeated cashout again',
    mistake: flawed.paysRepeatedCashouts,
    failed: ['settle-cashout-repeat'],
    verdict: 'fit_with_dialect',
  },
  {
    wallet: 'identifies by requestId',
    mistake: flawed.identifiesByRequestId(),
    failed: ['settle-cashout-repeat', 'settle-repeat'],
    verdict: 'fit_with_dialect',
  },
  {
    wallet: 'adds a changed result to the first',
    mistake: flawed.addsResettles,
    failed: [
      'resettle-back',
      'resettle-cashout-won',
      'resettle-down',
      'resettle-up',
      'resettle-zero',
    ],
  },
  {
    wallet: 'cashes out without a token',
    mistake: flawed.cashesOutWithoutToken,
    failed: ['settle-cashout-no-token'],
    verdict: 'fit',
  },
  {
    wallet: 'demands a token to settle',
    mistake: flawed.demandsTokenOnSettle,
    failed: ['settle-won'],
    verdict: 'fit_with_dialect',
  },
  {
    wallet: 'leaves payouts that are undone',
    mistake: flawed.keepsUnsettledPayouts,
    failed: [
      'shape-concurrent-lives',
      'shape-journey',
      'unsettle-cashout',
      'unsettle-rollback',
      'unsettle-settle-again',
      'unsettle-settle-lost',
      'unsettle-settle-refund',
      'unsettle-twice',
      'unsettle-won',
    ],
  },
  {
    wallet: 'undoes a payout twice',
    mistake: flawed.unsettlesTwice,
    failed: ['unsettle-twice'],
    verdict: 'fit_with_dialect',
  },
  {
    wallet: 'refunds twice',
    mistake: flawed.refundsTwice,
    failed: ['rollback-concurrent', 'rollback-place-race', 'rollback-twice'],
  },
  {
    wallet: 'refunds bets it never had',
    mistake: flawed.refundsUnknownBets,
    failed: [
      'rollback-before-place',
      'rollback-declined-place',
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
      'rollback-error-codes',
      'rollback-larger-amount',
      'rollback-once',
      'rollback-other-user',
      'rollback-place-again',
      'rollback-place-race',
      'rollback-then-settle',
      'rollback-then-unsettle',
      'rollback-twice',
      'rollback-without-token',
      'shape-concurrent-lives',
      'shape-journey',
      'unsettle-rollback',
      'update-after-rollback',
    ],
  },
  {
    wallet: 'forgets a rollback that came before its place',
    mistake: flawed.forgetsEarlyRollbacks,
    failed: ['rollback-before-place'],
  },
  {
    wallet: 'places again what was rolled back',
    mistake: flawed.placesAgainAfterRollback,
    failed: ['rollback-place-again'],
  },
  {
    wallet: 'leaves the payout beside the refund',
    mistake: flawed.keepsPayoutOnRollback,
    failed: ['rollback-after-settle'],
  },
  {
    wallet: 'refuses rollbacks of unknown bets with 400 and 5',
    mistake: flawed.refusesUnknownRollbacks,
    failed: ['rollback-declined-place', 'rollback-unknown', 'rollback-unknown-twice'],
    verdict: 'fit_with_dialect',
  },
  {
    wallet: 'answers rollbacks of unknown bets with 404',
    mistake: flawed.missesUnknownRollbacks,
    failed: ['rollback-declined-place', 'rollback-unknown', 'rollback-unknown-twice'],
    verdict: 'fit_with_dialect',
  },
  {
    wallet: 'debits updates',
    mistake: flawed.debitsUpdates,
    failed: [
      'shape-journey',
      'update-after-rollback',
      'update-after-settle',
      'update-before-settle',
      'update-once',
      'update-twice',
    ],
  },
  {
    wallet: 'counts in binary floats',
    mistake: flawed.countsInFloats(),
    failed: [],
    warned: ['currency-exact-sums'],
    verdict: 'fit',
  },
  {
    wallet: "tells anybody's balance",
    mistake: flawed.tellsForeignBalances,
    failed: ['balance-other-user'],
  },
  {
    wallet: 'puts the balance in quotes',
    mistake: flawed.amountInQuotes,
    failed: ['balance-amount'],
  },
  {
    wallet: 'has an odd profile',
    mistake: flawed.oddProfile,
    failed: ['profile-currencies'],
    warned: ['profile-custom-fields'],
    verdict: 'fit',
  },
  {
    wallet: 'answers errors as 200',
    mistake: flawed.errorsAs200,
    failed: ['shape-refusal-status'],
    verdict: 'fit_with_dialect',
  },
  {
    wallet: 'has a bare 402 for too little money',
    mistake: flawed.notEnoughAs402,
    failed: ['shape-refusal-code', 'shape-refusal-status'],
    warned: ['shape-refusal-message'],
    verdict: 'fit_with_dialect',
  },
  {
    wallet: 'puts the code into errorCode',
    mistake: flawed.codeIn('errorCode'),
    failed: ['shape-refusal-code'],
    verdict: 'fit_with_dialect',
  },
  {
    wallet: 'has no message',
    mistake: flawed.without('message'),
    failed: [],
    warned: ['shape-refusal-message'],
    verdict: 'fit',
  },
  {
    wallet: 'answers successes as 201',
    mistake: flawed.created,
    failed: ['shape-success-status'],
    verdict: 'fit_with_dialect',
  },
  {
    wallet: 'answers successes without a body',
    mistake: flawed.emptySuccesses,
    failed: ['shape-success-body'],
    verdict: 'fit_with_dialect',
  },
  {
    wallet: 'adds code 0 to successes',
    mistake: flawed.successCode(0),
    failed: [],
    verdict: 'fit',
  },
  {
    wallet: 'adds code 1 to successes',
    mistake: flawed.successCode(1),
    failed: ['shape-success-code'],
    verdict: 'fit_with_dialect',
  },
  {
    wallet: 'names no transactionId',
    mistake: flawed.without('transactionId'),
    failed: ['shape-transaction-id'],
    verdict: 'fit_with_dialect',
  },
  {
    wallet: 'names no transactionTime',
    mistake: flawed.without('transactionTime'),
    failed: ['shape-transaction-time'],
    verdict: 'fit',
  },
  // What strangers' wallets did and an earlier kit missed.
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
    failed: ['resettle-cashout-won'],
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
    wallet: 'calls the rollback of a settled bet processed, by code 8',
    mistake: flawed.ignoresRollbackOfSettled(8),
    failed: ['rollback-after-settle'],
  },
  {
    wallet: 'refuses the rollback of a settled bet',
    mistake: flawed.ignoresRollbackOfSettled(5),
    failed: ['rollback-after-settle'],
  },
  {
    wallet: 'loses money only at the end of a life',
    mistake: flawed.paysLostOnThirdResult(),
    failed: ['shape-journey'],
  },
  {
    wallet: 'tells real tokens by their length',
    mistake: flawed.knowsTokensByLength,
    failed: ['place-token-unknown'],
  },
  {
    wallet: "debits the holder of another player's token",
    mistake: flawed.debitsHolderOfToken,
    failed: ['place-other-token'],
    other: true,
  },
  {
    wallet: 'pays and refunds whom a call names',
    mistake: flawed.paysWhomItNames,
    failed: ['rollback-other-user', 'settle-other-user'],
    other: true,
  },
  {
    wallet: 'rounds to the smallest coin',
    mistake: flawed.roundsBalances,
    failed: [],
    warned: ['currency-many-decimals'],
    verdict: 'fit',
  },
  {
    wallet: 'refuses by 402 what its body says too',
    mistake: flawed.refusesBy402,
    failed: ['shape-refusal-status'],
    verdict: 'fit_with_dialect',
  },
];

describe('a wallet with one mistake fails what is about that mistake, and nothing else', () => {
  it.each(ROWS)('$wallet', async ({ mistake, failed, warned = [], verdict, other }) => {
    const wallet = await sandbox(mistake);
    const wishes = other === undefined ? {} : { other: second(wallet) };
    const certificate = await certification(wallet, wishes);
    expect({ failed: ids(certificate, 'failed'), warned: ids(certificate, 'warned') }).toEqual({
      failed,
      warned,
    });
    expect(certificate.verdict).toBe(verdict ?? 'not_fit');
    // Every finding says what to do, and the worst comes first.
    expect(certificate.findings.map((one) => one.case).sort()).toEqual(
      [...failed, ...warned].sort(),
    );
    const ranks = certificate.findings.map(({ meaning }) => FAILURE_MEANINGS.indexOf(meaning));
    expect(ranks).toEqual([...ranks].sort((a, b) => a - b));
    for (const { advice } of certificate.findings) expect(advice).toMatch(/.{20,}\.$/);
  });

  it('loses payouts that come at the same time', async () => {
    const { answerAfterMs, ...mistake } = flawed.losesConcurrentPayouts();
    const wallet = await sandbox(mistake);
    wallet.misbehave('settle', { kind: 'delay', ms: answerAfterMs });
    const certificate = await certification(wallet);
    expect(ids(certificate, 'failed')).toEqual([
      'settle-concurrent-bets',
      'shape-concurrent-lives',
    ]);
    expect(certificate.verdict).toBe('not_fit');
  });

  it('takes any number for a player, where its own has one', async () => {
    const wallet = await sandbox(flawed.knowsPlayersByDigits('1999'));
    wallet.addPlayer({
      user: '1999',
      isTest: true,
      balances: { USD: '1000' },
      tokens: { 'no-1999-token': 'USD' },
    });
    const player = { userId: '1999', token: 'no-1999-token', currency: 'USD' };
    const certificate = await certification(wallet, { player });
    // Also for one that takes a bet's transactionId again.
    expect(ids(certificate, 'failed')).toEqual(['place-token-other-user', 'place-two-players']);
  });
});

describe('what a failure means', () => {
  it.each<[string, flawed.Mistake, FailureMeaning]>([
    ['a payout beside the refund', flawed.keepsPayoutOnRollback, 'costs_money'],
    ['a repeated refund', flawed.refundsTwice, 'costs_money_when_an_answer_is_lost'],
    ['a foreign signature', flawed.acceptsAnySignature, 'lets_somebody_in'],
    ['a duplicate that is debited', flawed.debitsDuplicates, 'absorbed'],
    ['noise of floats', flawed.countsInFloats(), 'cosmetic'],
  ])('%s', async (_what, mistake, meaning) => {
    const { findings } = await certification(await sandbox(mistake));
    expect(new Set(findings.map((one) => one.meaning))).toEqual(new Set([meaning]));
  });

  it('is never a matter of dialects where money goes wrong: it says what to change', async () => {
    const { findings } = await certification(await sandbox(flawed.refundsTwice));
    expect(findings[0]?.advice).toMatch(/No dialect mends it\.$/);
  });
});

const BETS = ['place', 'settle', 'unsettle', 'rollback', 'update'] as const;
const UPDATES = [
  'update-after-settle',
  'update-before-settle',
  'update-once',
  'update-twice',
  'update-unknown',
];

describe('a wallet that misbehaves on the wire', () => {
  it.each<[string, readonly Operation[], Misbehaviour, readonly string[]]>([
    ['echoes another id', BETS, { kind: 'wrongTransactionId' }, ['shape-transaction-id']],
    [
      'echoes another id to rollbacks',
      ['rollback'],
      { kind: 'wrongTransactionId' },
      ['shape-transaction-id'],
    ],
    ['has odd times', BETS, { kind: 'badTransactionTime' }, ['shape-transaction-time']],
    ['answers updates with 500', ['update'], { kind: 'status', status: 500 }, UPDATES],
    ['refuses updates', ['update'], { kind: 'code', code: 5 }, UPDATES],
  ])('%s: exactly that is found', async (_what, operations, misbehaviour, failed) => {
    const wallet = await sandbox();
    for (const operation of operations) wallet.misbehave(operation, misbehaviour);
    const certificate = await certification(wallet);
    expect({ failed: ids(certificate, 'failed'), warned: ids(certificate, 'warned') }).toEqual({
      failed,
      warned: [],
    });
  });

  it('tells of which calls, and of how many answers', async () => {
    const wallet = await sandbox();
    wallet.misbehave('settle', { kind: 'wrongTransactionId' }, { calls: 1 });
    const { cases } = await certification(wallet);
    const found = cases.find(({ id }) => id === 'shape-transaction-id');
    expect(found?.reasons).toEqual([
      expect.stringMatching(/^another transactionId \(1 of \d{3} answers; settle\)$/),
    ]);
  });

  it('shows what moved, and what should have', async () => {
    const { cases, money } = await certification(await sandbox(flawed.refundsTwice));
    const found = cases.find(({ id }) => id === 'rollback-twice');
    expect(found).toMatchObject({
      verdict: 'failed',
      meaning: 'costs_money_when_an_answer_is_lost',
      reasons: ['the same rollback again: the balance must not move, it moved by 3'],
      seen: expect.arrayContaining([
        expect.objectContaining({ operation: 'rollback', status: 200 }),
      ]),
    });
    expect(Number(money.difference)).toBeGreaterThan(0);
  });
});
