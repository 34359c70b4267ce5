import { expect, it, vi } from 'vitest';
import { RepairedAnswers } from '../../../src/operations/repaired-answers.ts';
import type { Logger } from '../../../src/telemetry/logger.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { partly } from '../../support/partly.ts';
import { TestClock } from '../../support/test-clock.ts';

it('logs an operator’s repaired answers once a minute, with all members since the last line', () => {
  const [clock, warn] = [new TestClock(), vi.fn()];
  const logger = partly<Logger>({ warn });
  const repaired = new RepairedAnswers({ clock, logger, metrics: createMetrics() });
  repaired.note('alpha', []);
  repaired.note('alpha', ['isTest']);
  repaired.note('alpha', ['currencies']);
  repaired.note('alpha', ['isTest']);
  repaired.note('beta', ['userId']);
  clock.atMs += 60_000;
  repaired.note('alpha', ['currencies']);
  repaired.note('alpha', ['currencies']);
  expect(warn.mock.calls).toEqual([
    [{ operator: 'alpha', fields: ['isTest'], answers: 1 }, 'wallet.answer_repaired'],
    [{ operator: 'beta', fields: ['userId'], answers: 1 }, 'wallet.answer_repaired'],
    [{ operator: 'alpha', fields: ['currencies', 'isTest'], answers: 3 }, 'wallet.answer_repaired'],
  ]);
});
