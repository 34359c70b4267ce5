import { expect, it } from 'vitest';
import type { CaseResult, Verdict } from '../../../src/certify/certificate/certificate.ts';
import {
  composeCertificate,
  type RunFacts,
} from '../../../src/certify/certificate/compose-certificate.ts';
import { verificationLine } from '../../../src/certify/report/report-words.ts';
import { partly } from '../../support/partly.ts';

const result = (id: string, verdict: Verdict) =>
  partly<CaseResult>({ id, verdict, group: 'settle', meaning: 'costs_money', reasons: ['so'] });

it('counts a case that no longer arises with a dialect as passed, but none that was never tried', () => {
  const again = [result('settle-won', 'passed'), result('settle-repeat', 'skipped')];
  const certificate = composeCertificate(
    partly<RunFacts>({
      options: {
        ...{ settings: { baseUrl: 'https://wallet.example', dialect: {} }, only: [] },
        ...{ player: { userId: 'ann', currency: 'USD' }, version: '1' },
      },
      ending: 'finished',
      first: {
        results: [
          result('settle-won', 'failed'),
          result('settle-repeat', 'failed'),
          result('settle-lost', 'passed'),
          result('settle-other-user', 'skipped'),
        ],
      },
      verified: {
        ...{ suggestions: [], withheld: [], mends: new Map(), dialect: {} },
        passed: { results: again },
      },
    }),
  );
  expect(certificate.verification).toEqual({
    ...{ dialect: {}, passedBefore: 1, passedAfter: 3, spared: 1, stillFailing: [] },
  });
  expect(certificate.verdict).toBe('fit_with_dialect');
  expect(verificationLine(certificate)).toBe('With this: 1 → 3 passed (1 no longer arise)');
});
