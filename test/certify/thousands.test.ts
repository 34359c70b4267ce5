import { expect, it } from 'vitest';
import { certification, ids, PLAYER, sandbox } from './support/certification.ts';
import { refusesByStatusAlone } from './support/flawed-answers.ts';
import type { Mistake } from './support/mistake.ts';
import * as thousands from './support/thousands.ts';

it.each([
  ['fails at payouts above a hundred thousand', thousands.failsAtPayoutsAbove('100000')],
  ['keeps six digits of an amount', thousands.keepsSixDigits],
  ['reads a stake up to its separator of thousands', thousands.readsStakesUpToTheComma],
] as const)('a wallet that %s is not fit', async (mistaken, mistake) => {
  const only = [
    'place-enough',
    'settle-won',
    'settle-large-payout',
    'currency-odd-cents',
    'currency-thousands',
  ] as const;
  const certificate = await certification(await sandbox(mistake), { only });
  const isOfPayouts = mistaken.includes('payouts');
  expect(ids(certificate, 'failed')).toEqual([
    isOfPayouts ? 'settle-large-payout' : 'currency-thousands',
  ]);
  expect(certificate.verdict).toBe('not_fit');
});

it.each([
  ['stakes, with a code for it', thousands.limits('place', '1000', 11), 'passed'],
  ['winnings, and says so', thousands.limits('settle', '10000', 5), 'warned'],
] as const)('a wallet that limits %s is fit, and keeps no money', async (_, limited, verdict) => {
  const certificate = await certification(await sandbox(limited), {
    only: ['place-enough', 'settle-won', 'settle-large-payout', 'currency-thousands'],
  });
  const thousand = certificate.cases.find(({ id }) => id === 'currency-thousands');
  expect(thousand?.verdict).toBe(verdict);
  expect([certificate.verdict, certificate.money.difference]).toEqual(['fit', '0']);
});

it('a limit on stakes that a wallet tells by the status alone is no fault of its arithmetic either', async () => {
  const byStatus = { ...refusesByStatusAlone, ...thousands.limits('place', '2000', 11) };
  const certificate = await certification(await sandbox(byStatus), {
    only: ['place-enough', 'place-not-enough', 'currency-thousands', 'shape-refusal-status'],
  });
  expect(ids(certificate, 'warned')).toEqual(['currency-thousands']);
  expect(certificate.verdict).toBe('fit_with_dialect');
});

it('payouts are tried also where the profile has the userId as a number, which is found by itself', async () => {
  const bare: Mistake = {
    rewrite: (answer, { operation }) =>
      operation === 'profile' ? { ...answer, body: answer.body.replace('"77"', '77') } : answer,
  };
  const certificate = await certification(await sandbox(bare, { user: '77' }), {
    player: { ...PLAYER, userId: '77' },
    only: ['profile-user', 'settle-large-payout', 'currency-thousands'],
  });
  expect(certificate.cases.map(({ id, verdict }) => [id, verdict])).toEqual([
    ['profile-user', 'failed'],
    ['settle-large-payout', 'passed'],
    ['currency-thousands', 'passed'],
  ]);
});
