import { describe, expect, it } from 'vitest';
import type { Operation } from '../../src/domain/operation.ts';
import type { Misbehaviour } from '../../tools/simulator/wallet/misbehaviour.ts';
import { certification, ids, sandbox } from './support/certification.ts';
import * as flawed from './support/flawed-wallets.ts';

interface Row {
  readonly wallet: string;
  readonly mistake: flawed.Mistake;
  readonly failed: readonly string[];
  readonly warned?: readonly string[];
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
  },
  { wallet: 'wants x-sign too', mistake: flawed.needsXSign, failed: ['signature-good'] },
  {
    wallet: 'debits duplicates',
    mistake: flawed.debitsDuplicates,
    failed: [
      'freebet-duplicate',
      'place-duplicate',
      'place-duplicate-concurrent',
      'place-duplicate-new-request',
    ],
  },
  {
    wallet: 'lends money',
    mistake: flawed.lends,
    failed: ['place-concurrent-overdraw', 'place-exact-balance', 'place-not-enough'],
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
  },
  {
    wallet: 'has another code for too little money',
    mistake: flawed.answersNotEnoughAs(5),
    failed: ['place-concurrent-overdraw', 'place-exact-balance', 'place-not-enough'],
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
  },
  {
    wallet: 'pays a repeated cashout again',
    mistake: flawed.paysRepeatedCashouts,
    failed: ['settle-cashout-repeat'],
  },
  {
    wallet: 'identifies by requestId',
    mistake: flawed.identifiesByRequestId(),
    failed: ['settle-cashout-repeat', 'settle-repeat'],
  },
  {
    wallet: 'adds a changed result to the first',
    mistake: flawed.addsResettles,
    failed: ['resettle-back', 'resettle-down', 'resettle-up', 'resettle-zero'],
  },
  {
    wallet: 'cashes out without a token',
    mistake: flawed.cashesOutWithoutToken,
    failed: ['settle-cashout-no-token'],
  },
  {
    wallet: 'demands a token to settle',
    mistake: flawed.demandsTokenOnSettle,
    failed: ['settle-won'],
  },
  {
    wallet: 'leaves payouts that are undone',
    mistake: flawed.keepsUnsettledPayouts,
    failed: ['unsettle-rollback', 'unsettle-settle-again', 'unsettle-twice', 'unsettle-won'],
  },
  {
    wallet: 'undoes a payout twice',
    mistake: flawed.unsettlesTwice,
    failed: ['unsettle-twice'],
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
      'rollback-error-codes',
      'rollback-once',
      'rollback-other-user',
      'rollback-place-again',
      'rollback-place-race',
      'rollback-twice',
      'rollback-without-token',
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
  },
  {
    wallet: 'answers rollbacks of unknown bets with 404',
    mistake: flawed.missesUnknownRollbacks,
    failed: ['rollback-declined-place', 'rollback-unknown', 'rollback-unknown-twice'],
  },
  {
    wallet: 'debits updates',
    mistake: flawed.debitsUpdates,
    failed: [
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
    failed: ['currency-exact-sums'],
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
  },
  {
    wallet: 'answers errors as 200',
    mistake: flawed.errorsAs200,
    failed: ['shape-refusal-status'],
  },
  {
    wallet: 'has a bare 402 for too little money',
    mistake: flawed.notEnoughAs402,
    failed: ['shape-refusal-code', 'shape-refusal-status'],
    warned: ['shape-refusal-message'],
  },
  {
    wallet: 'puts the code into errorCode',
    mistake: flawed.codeIn('errorCode'),
    failed: ['shape-refusal-code'],
  },
  {
    wallet: 'has no message',
    mistake: flawed.without('message'),
    failed: [],
    warned: ['shape-refusal-message'],
  },
  {
    wallet: 'answers successes as 201',
    mistake: flawed.created,
    failed: ['shape-success-status'],
  },
  {
    wallet: 'answers successes without a body',
    mistake: flawed.emptySuccesses,
    failed: ['shape-success-body'],
  },
  { wallet: 'adds code 0 to successes', mistake: flawed.successCode(0), failed: [] },
  {
    wallet: 'adds code 1 to successes',
    mistake: flawed.successCode(1),
    failed: ['shape-success-code'],
  },
  {
    wallet: 'names no transactionId',
    mistake: flawed.without('transactionId'),
    failed: ['shape-transaction-id'],
  },
  {
    wallet: 'names no transactionTime',
    mistake: flawed.without('transactionTime'),
    failed: ['shape-transaction-time'],
  },
];

describe('a wallet with one mistake fails what is about that mistake, and nothing else', () => {
  it.each(ROWS)('$wallet', async ({ mistake, failed, warned = [] }) => {
    const certificate = await certification(await sandbox(mistake));
    expect({ failed: ids(certificate, 'failed'), warned: ids(certificate, 'warned') }).toEqual({
      failed,
      warned,
    });
    expect(certificate.result).toBe(failed.length === 0 ? 'passed' : 'failed');
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
      reasons: ['the same rollback again: the balance must not move, it moved by 3'],
      seen: expect.arrayContaining([
        expect.objectContaining({ operation: 'rollback', status: 200 }),
      ]),
    });
    expect(Number(money.difference)).toBeGreaterThan(0);
  });
});
