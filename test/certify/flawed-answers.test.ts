import { describe, expect, it } from 'vitest';
import { certification, sandbox } from './support/certification.ts';
import * as answering from './support/flawed-answers.ts';
import * as mistaking from './support/mistaken-identity.ts';
import { failsItsCases, type Row } from './support/one-mistake.ts';
import { refusesBodiesWith } from './support/plain-mistakes.ts';
import { letsItPass } from './support/suggested-dialect.ts';

const ROWS: readonly Row[] = [
  {
    wallet: 'accepts any signature',
    mistake: answering.acceptsAnySignature,
    failed: [
      'signature-attached-body',
      'signature-empty',
      'signature-foreign-balance',
      'signature-foreign-place',
      'signature-foreign-profile',
      'signature-foreign-rollback',
      'signature-foreign-settle',
      'signature-foreign-unsettle',
      'signature-foreign-update',
      'signature-missing-balance',
      'signature-missing-place',
      'signature-missing-results',
      'signature-no-algorithm',
      'signature-other-body',
      'signature-shortened',
      'signature-tampered-end',
      'signature-tampered-place',
      'signature-unset-secret',
    ],
  },
  {
    // Spellings that it would not write itself: `2.50`, an escaped letter, a space.
    wallet: 'verifies the JSON as it would serialise it',
    mistake: answering.reserialises,
    failed: ['currency-trailing-zero', 'signature-unicode'],
    warned: ['signature-whitespace'],
  },
  {
    wallet: 'wants alg first in the header',
    mistake: answering.wantsAlgFirst,
    failed: [],
    warned: ['signature-header-order'],
    verdict: 'fit',
  },
  {
    wallet: 'wants x-sign too',
    mistake: answering.needsXSign,
    failed: ['signature-good'],
    dialect: { legacySign: true },
  },
  {
    wallet: 'takes a place without a transactionId',
    mistake: mistaking.needsNoTransactionId,
    failed: ['shape-missing-id'],
    verdict: 'fit',
  },
  {
    wallet: 'has another code for too little money',
    mistake: answering.answersNotEnoughAs(5),
    failed: ['place-concurrent-overdraw', 'place-exact-balance', 'place-not-enough'],
    verdict: 'fit',
  },
  {
    wallet: 'counts in binary floats',
    mistake: answering.countsInFloats(),
    failed: [],
    warned: ['currency-exact-sums', 'currency-odd-cents', 'currency-thousands'],
    verdict: 'fit',
  },
  {
    wallet: "tells anybody's balance",
    mistake: answering.tellsForeignBalances,
    failed: ['balance-other-user'],
  },
  {
    wallet: 'puts the balance in quotes',
    mistake: answering.amountInQuotes,
    failed: ['balance-amount'],
  },
  {
    wallet: 'has an odd profile',
    mistake: answering.oddProfile,
    failed: ['profile-currencies'],
    warned: ['profile-custom-fields'],
    verdict: 'fit',
  },
  {
    wallet: 'answers errors as 200',
    mistake: answering.errorsAs200,
    failed: ['shape-refusal-status'],
    dialect: { okCodes: [0] },
  },
  {
    wallet: 'has a bare 402 for too little money',
    played: ['place', 'shape'],
    mistake: answering.notEnoughAs402,
    failed: ['shape-refusal-code', 'shape-refusal-status'],
    warned: ['shape-refusal-message'],
    dialect: { errorStatuses: { 402: 7 } },
  },
  {
    wallet: 'puts the code into errorCode',
    mistake: answering.codeIn('errorCode'),
    failed: ['shape-refusal-code'],
    dialect: { codeField: 'errorCode' },
  },
  {
    wallet: 'has no message',
    mistake: answering.without('message'),
    failed: [],
    warned: ['shape-refusal-message'],
    verdict: 'fit',
  },
  {
    wallet: 'answers successes as 201',
    mistake: answering.created,
    failed: ['shape-success-status'],
    dialect: { successStatuses: [200, 201] },
  },
  {
    wallet: 'answers successes without a body',
    mistake: answering.emptySuccesses,
    failed: ['shape-success-body'],
    dialect: { emptyOk: true },
  },
  {
    wallet: 'adds code 0 to successes',
    played: ['place', 'settle', 'shape'],
    mistake: answering.successCode(0),
    failed: [],
    verdict: 'fit',
  },
  {
    wallet: 'adds code 1 to successes',
    mistake: answering.successCode(1),
    failed: ['shape-success-code'],
    dialect: { okCodes: [1] },
  },
  {
    wallet: 'names no transactionId',
    mistake: answering.without('transactionId'),
    failed: ['shape-transaction-id'],
    dialect: { echo: 'ignore' },
  },
  {
    wallet: 'names no transactionTime',
    mistake: answering.without('transactionTime'),
    failed: ['shape-transaction-time'],
    verdict: 'fit',
  },
  {
    wallet: 'rounds to the smallest coin',
    mistake: answering.roundsBalances,
    failed: [],
    warned: ['currency-many-decimals'],
    verdict: 'fit',
  },
  {
    wallet: 'refuses by 402 what its body says too',
    mistake: answering.refusesBy402,
    failed: ['shape-refusal-status'],
    dialect: { errorStatuses: { 402: 'body' } },
  },
];

describe('a wallet with one mistake in its answers or signatures fails the cases about it', () => {
  it.each(ROWS)('$wallet', failsItsCases);
});

describe('a wallet', () => {
  it('may refuse amounts of nonexistent coins', async () => {
    const wallet = await sandbox(refusesBodiesWith('1.23456789'));
    const { cases } = await certification(wallet, { only: ['currency-many-decimals'] });
    expect(cases).toMatchObject([{ verdict: 'passed' }]);
  });

  it('is told every status with which it refuses', async () => {
    const mistake = answering.refusesByStatusAlone;
    const certificate = await certification(await sandbox(mistake), {
      only: ['signatures', 'profile', 'place', 'settle', 'shape'],
    });
    const found = certificate.cases.find(({ id }) => id === 'shape-refusal-status');
    const statuses = [401, 402, 422].map((status) => `a refusal with HTTP ${status}`);
    for (const status of statuses) expect(found?.reasons[0]).toContain(status);
    const errorStatuses = { 401: 3, 402: 7, 422: 5 };
    await letsItPass(certificate, { errorStatuses }, mistake);
  });

  it('is told that its amounts are not in the smallest coin', async () => {
    const wallet = await sandbox(answering.balancesInCents);
    const { findings } = await certification(wallet, { only: ['place-enough'] });
    expect(findings[0]?.what).toMatch(/moved by -300, 100 times as much: amounts are in units/);
  });
});
