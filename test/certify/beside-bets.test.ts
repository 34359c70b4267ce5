import { describe, expect, it } from 'vitest';
import type { Operation } from '../../src/domain/operation.ts';
import {
  ANSWER_AFTER_MS,
  blocks,
  changesInSteps,
  forgetsStakesOf,
  savesWhatItRead,
  sharesFirst,
} from './support/beside-bets.ts';
import { certification, ids, sandbox, second } from './support/certification.ts';

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
    const wallet = await sandbox(sharesFirst('amount'));
    wallet.misbehave('place', { kind: 'delay', ms: ANSWER_AFTER_MS });
    const only = ['place', 'latency', 'shape-concurrent-lives'] as const;
    const certificate = await certification(wallet, { only });
    expect(ids(certificate, 'failed')).toEqual(['place-concurrent']);
    expect(certificate.verdict).toBe('not_fit');
  });
});

describe('a wallet that mixes up the players of places that coincide', () => {
  it('is found where a second player is named', async () => {
    const wallet = await sandbox(sharesFirst('userId'));
    wallet.misbehave('place', { kind: 'delay', ms: ANSWER_AFTER_MS });
    const only = ['place'] as const;
    const other = second(wallet);
    const alone = await certification(wallet, { only });
    expect(ids(alone, 'failed')).toEqual([]);
    const certificate = await certification(wallet, { only, other });
    expect(ids(certificate, 'failed')).toEqual(['place-beside-other-player']);
    expect(certificate.findings.map(({ meaning }) => meaning)).toEqual(['costs_money']);
    expect(certificate.verdict).toBe('not_fit');
  });

  it('is found also where the first player’s money is right', async () => {
    const wallet = await sandbox(forgetsStakesOf('bob'));
    wallet.misbehave('place', { kind: 'delay', ms: ANSWER_AFTER_MS });
    const only = ['place-enough', 'place-beside-other-player'] as const;
    const certificate = await certification(wallet, { only, other: second(wallet) });
    expect(ids(certificate, 'failed')).toEqual(['place-beside-other-player']);
  });

  it('is not tried where the second token is of a test player, and the second player may be real', async () => {
    const wallet = await sandbox();
    const { token } = second(wallet);
    wallet.addPlayer({ user: 'real', balances: { USD: '500' }, tokens: {} });
    const only = ['place-beside-other-player'] as const;
    const { cases } = await certification(wallet, { only, other: { userId: 'real', token } });
    expect(cases.map(({ verdict, reasons }) => [verdict, ...reasons])).toEqual([
      ['skipped', 'for test players alone: the profile of real must say isTest: true'],
    ]);
  });

  it('is not judged by a second player whom a right wallet lets place nothing', async () => {
    const wallet = await sandbox(blocks('bob'));
    const only = ['place-beside-other-player', 'place-enough'] as const;
    const certificate = await certification(wallet, { only, other: second(wallet) });
    expect(ids(certificate, 'skipped')).toEqual(['place-beside-other-player']);
    expect(certificate.verdict).toBe('fit');
    const one = certificate.cases.find(({ id }) => id === 'place-beside-other-player');
    expect(one?.reasons).toEqual(['the second player may place no bets: code 9']);
  });

  it('is not tried with the money of a second player who may be real', async () => {
    const wallet = await sandbox();
    const only = ['place-beside-other-player'] as const;
    const { cases } = await certification(wallet, {
      only,
      other: second(wallet, { isTest: false }),
    });
    expect(cases.map(({ verdict, reasons }) => [verdict, ...reasons])).toEqual([
      ['skipped', 'for test players alone: the profile of bob must say isTest: true'],
    ]);
    expect(wallet.bets.size).toBe(0);
  });
});

describe('a wallet that changes the balance in steps where a settled bet gets', () => {
  it.each([
    { operation: 'settle', found: 'resettle-concurrent-bets' },
    { operation: 'rollback', found: 'rollback-concurrent-results' },
  ] as const)('another $operation is found by several at once', async ({ operation, found }) => {
    const wallet = await sandbox(changesInSteps(operation));
    wallet.misbehave(operation, { kind: 'delay', ms: ANSWER_AFTER_MS });
    const only = ['settle', 'rollback', 'shape-concurrent-lives'] as const;
    const certificate = await certification(wallet, { only });
    expect(ids(certificate, 'failed')).toEqual([found]);
    // No dialect helps: different bets are called at the same time, whatever is held.
    expect(certificate.verdict).toBe('not_fit');
  });
});
