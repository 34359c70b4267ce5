import { describe, expect, it } from 'vitest';
import { certification, ids, sandbox } from './support/certification.ts';
import { failsItsCases, type Row } from './support/one-mistake.ts';
import * as third from './support/third-looks.ts';

const ROWS: readonly Row[] = [
  {
    wallet: 'compares stake and balance in whole coins',
    mistake: third.lendsCents,
    failed: ['place-not-enough'],
  },
  {
    wallet: 'reads an amount up to its exponent',
    mistake: third.cutsExponents,
    failed: ['currency-exponent'],
  },
  {
    wallet: 'takes a settle without a signature',
    mistake: third.asksNoSignatureOf('settle'),
    failed: ['signature-missing-results'],
  },
  {
    wallet: 'takes an unsettle without a signature',
    mistake: third.asksNoSignatureOf('unsettle'),
    failed: ['signature-missing-results'],
  },
  {
    wallet: 'takes a rollback without a signature',
    mistake: third.asksNoSignatureOf('rollback'),
    failed: ['signature-missing-results'],
  },
  {
    wallet: 'refuses no algorithm in one spelling alone',
    mistake: third.takesNone,
    failed: ['signature-no-algorithm'],
  },
  {
    wallet: 'knows an unsettle again by its amount',
    mistake: third.knowsUnsettlesByAmount(),
    failed: ['unsettle-again'],
  },
  {
    wallet: 'refuses a rollback under a requestId that it has seen',
    mistake: third.refusesSeenRequests(),
    failed: ['rollback-twice'],
    dialect: { rollbackConfirmedBy: [5] },
  },
  {
    wallet: 'takes back the payout that an unsettle names',
    mistake: third.takesNamedPayouts,
    failed: ['unsettle-other-amount'],
    dialect: {},
  },
  {
    wallet: 'gives an answer of before to a request that it has refused',
    mistake: third.repeatsOldAnswers(),
    failed: ['settle-refused-before'],
    dialect: {},
  },
];

describe('a wallet that looks at one thing only is found by the others', () => {
  it.each(ROWS)('$wallet', failsItsCases);
});

const ONE_AFTER_THE_OTHER = [
  'settle-won',
  'settle-corrected-repeat',
  'resettle-up',
  'unsettle-won',
  'unsettle-twice',
  'rollback-then-settle',
  'rollback-after-settle',
];
const TOGETHER = ['unsettle-concurrent', 'settle-corrected-concurrent', 'rollback-settle-race'];

describe('a wallet that is wrong where two calls of one bet meet', () => {
  it.each([
    ['takes a payout back twice', third.unsettlesTogether, 'unsettle-concurrent'],
    ['corrects a result twice', third.correctsTogether, 'settle-corrected-concurrent'],
    ['pays beside the rollback', third.paysBesideRollback, 'rollback-settle-race'],
  ] as const)('%s', async (_, mistake, found) => {
    const wallet = await sandbox(mistake());
    for (const operation of ['settle', 'unsettle', 'rollback'] as const) {
      wallet.misbehave(operation, { kind: 'delay', ms: third.ANSWER_AFTER_MS });
    }
    const certificate = await certification(wallet, {
      only: [...ONE_AFTER_THE_OTHER, ...TOGETHER],
    });
    expect(ids(certificate, 'failed')).toEqual([found]);
    const isHeld = found !== 'rollback-settle-race';
    expect(certificate.verdict).toBe(isHeld ? 'fit_with_dialect' : 'not_fit');
  });
});
