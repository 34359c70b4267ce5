import { describe, expect, it } from 'vitest';
import { certification, sandbox } from './support/certification.ts';
import * as answering from './support/flawed-answers.ts';
import * as races from './support/lost-races.ts';
import type { Mistake } from './support/mistake.ts';
import { paysRefundsAgain } from './support/second-thoughts.ts';

describe('a race that was lost in the first run and not in the next, with a dialect', () => {
  it.each([
    [
      'that sends no result again',
      races.lendsOnce(paysRefundsAgain),
      ['place-concurrent-overdraw', 'settle-refund', 'settle-refund-repeat'],
      'place-concurrent-overdraw',
      'unknownRepeats',
    ],
    [
      'that reads answers otherwise',
      races.losesOneStake(answering.codeIn('error')),
      ['place-concurrent', 'place-not-enough', 'shape-refusal-code'],
      'place-concurrent',
      'codeField',
    ],
  ] as const)('%s, is not mended by it: the wallet is not fit', async (...row) => {
    const [, mistake, only, lost, item] = row;
    const certificate = await certification(await sandbox(mistake), { only });
    expect(certificate.suggestions.map((one) => one.item)).toEqual([item]);
    expect(certificate.findings.find((one) => one.case === lost)).toMatchObject({
      verdict: 'failed',
      mendedBy: [],
    });
    expect(certificate.verdict).toBe('not_fit');
  });

  it('is held against neither of two items that are needed otherwise', async () => {
    const error = answering.codeIn('error');
    const asSix = answering.answersNotEnoughAs(6);
    const both: Mistake = {
      ...error,
      rewrite: (answer, call) =>
        error.rewrite?.(asSix.rewrite?.(answer, call) ?? answer, call) ?? answer,
    };
    const certificate = await certification(await sandbox(races.losesOneStake(both)), {
      only: ['place-concurrent', 'place-not-enough', 'shape-refusal-code'],
    });
    expect(certificate.withheld).toEqual([]);
    expect(certificate.suggestions.map(({ item }) => item)).toEqual(['codeField', 'mapCodes']);
    expect(certificate.verdict).toBe('not_fit');
  });
});
