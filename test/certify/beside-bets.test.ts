import { describe, expect, it } from 'vitest';
import type { Operation } from '../../src/domain/operation.ts';
import { ANSWER_AFTER_MS, savesWhatItRead, sharesStakes } from './support/beside-bets.ts';
import { certification, ids, sandbox } from './support/certification.ts';

const BESIDE = ['place-beside-reads', 'update-beside-places'];
const OTHERS = ['balance-steady', 'place-enough', 'place-concurrent', 'update-once'];

describe('a wallet that saves more than a call changes', () => {
  it.each([
    { calls: ['balance'], found: 'place-beside-reads' },
    { calls: ['profile'], found: 'place-beside-reads' },
    { calls: ['update'], found: 'update-beside-places' },
  ] satisfies readonly { calls: Operation[]; found: string }[])(
    'is found by bets beside each $calls.0',
    async ({ calls, found }) => {
      const wallet = await sandbox(savesWhatItRead(calls));
      for (const operation of calls) {
        wallet.misbehave(operation, { kind: 'delay', ms: ANSWER_AFTER_MS });
      }
      const certificate = await certification(wallet, { only: [...OTHERS, ...BESIDE] });
      expect(ids(certificate, 'failed')).toEqual([found]);
      expect(certificate.findings.map(({ meaning }) => meaning)).toEqual(['costs_money']);
      expect(certificate.verdict).toBe('not_fit');
    },
  );

  it('is found by nothing where each call changes what is its own', async () => {
    const certificate = await certification(await sandbox(), { only: BESIDE });
    expect(ids(certificate, 'passed')).toEqual(BESIDE);
  });
});

describe('a wallet that mixes up the stakes of places that coincide', () => {
  it('is found where the stakes differ', async () => {
    const wallet = await sandbox(sharesStakes());
    wallet.misbehave('place', { kind: 'delay', ms: ANSWER_AFTER_MS });
    const only = ['place', 'latency', 'shape-concurrent-lives'] as const;
    const certificate = await certification(wallet, { only });
    expect(ids(certificate, 'failed')).toEqual(['place-concurrent']);
    expect(certificate.verdict).toBe('not_fit');
  });
});
