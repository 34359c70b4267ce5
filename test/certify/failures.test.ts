import { describe, expect, it } from 'vitest';
import type { Selection } from '../../src/certify/selection.ts';
import type { FailureMeaning } from '../../src/certify/trial/failure-meaning.ts';
import type { Operation } from '../../src/domain/operation.ts';
import type { Misbehaviour } from '../../tools/simulator/wallet/misbehaviour.ts';
import { certification, ids, sandbox } from './support/certification.ts';
import * as answering from './support/flawed-answers.ts';
import * as flawed from './support/flawed-wallets.ts';
import type { Mistake } from './support/mistake.ts';

describe('what a failure means', () => {
  it.each<[string, Mistake, FailureMeaning, Selection]>([
    ['a win beside the cashout', flawed.addsWinToCashout, 'costs_money', 'settle'],
    ['a repeated refund', flawed.refundsTwice, 'costs_money_when_an_answer_is_lost', 'rollback'],
    ['a foreign signature', answering.acceptsAnySignature, 'lets_somebody_in', 'signatures'],
    ['a duplicate that is debited', flawed.debitsDuplicates, 'absorbed', 'place'],
    ['noise of floats', answering.countsInFloats(), 'cosmetic', 'currencies'],
  ])('%s', async (_what, mistake, meaning, only) => {
    const { findings } = await certification(await sandbox(mistake), { only: [only] });
    expect(new Set(findings.map((one) => one.meaning))).toEqual(new Set([meaning]));
  });

  it('is money where a wallet fails instead of refusing: its breaker opens for all its players', async () => {
    const wallet = await sandbox(answering.notEnoughAs500);
    const { verdict, findings } = await certification(wallet, { only: ['place-not-enough'] });
    expect(verdict).toBe('not_fit');
    expect(findings).toMatchObject([{ case: 'place-not-enough', meaning: 'costs_money' }]);
  });

  it('is never a matter of dialects where money goes wrong: it says what to change', async () => {
    const only = ['rollback-twice'];
    const { findings } = await certification(await sandbox(flawed.refundsTwice), { only });
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
  it('lets nobody in by silence, and is told how servers come to it', async () => {
    const wallet = await sandbox();
    wallet.misbehave('place', { kind: 'hang' });
    const only = ['signature-missing-results'] as const;
    const { findings } = await certification(wallet, { only, limits: { callMs: 600 } });
    expect(findings).toMatchObject([
      {
        case: 'signature-missing-results',
        meaning: 'costs_money',
        advice: expect.stringMatching(/^No answer came in time\./),
      },
    ]);
  });

  it('is asked again for what it did not answer while money was given back', async () => {
    const wallet = await sandbox();
    wallet.misbehave('rollback', { kind: 'reset' }, { calls: 1 });
    const { money } = await certification(wallet, { only: ['place-enough'] });
    expect(money).toMatchObject({ difference: '0' });
    expect(wallet.balance('ann', 'USD')).toBe('1000');
  });

  it('has refused nothing by a redirect, nor accepted: the gateway would not know either', async () => {
    const wallet = await sandbox({
      rewrite: (answer) => (answer.body.includes('"code":7') ? { status: 302, body: '' } : answer),
    });
    const { findings } = await certification(wallet, { only: ['place-not-enough'] });
    expect(findings).toMatchObject([
      { what: 'place should be refused: HTTP 302', meaning: 'costs_money' },
    ]);
  });

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
  ])('%s: that is found', async (_what, operations, misbehaviour, failed) => {
    const wallet = await sandbox();
    for (const operation of operations) wallet.misbehave(operation, misbehaviour);
    const certificate = await certification(wallet, { only: failed });
    expect({ failed: ids(certificate, 'failed'), warned: ids(certificate, 'warned') }).toEqual({
      failed,
      warned: [],
    });
  });

  it('shows what moved, and what should have', async () => {
    const only = ['rollback-twice'];
    const { cases, money } = await certification(await sandbox(flawed.refundsTwice), { only });
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
