import { describe, expect, it } from 'vitest';
import type { Operation } from '../../src/domain/operation.ts';
import type { Misbehaviour } from '../../tools/simulator/wallet/misbehaviour.ts';
import { certification, ids, sandbox } from './support/certification.ts';
import * as answering from './support/flawed-answers.ts';
import * as flawed from './support/flawed-wallets.ts';
import { takenOver, written } from './support/suggested-dialect.ts';

describe('a suggested dialect', () => {
  it('updates: skip leaves the updates out', async () => {
    const refusing = async () => {
      const wallet = await sandbox();
      wallet.misbehave('update', { kind: 'status', status: 500 });
      return wallet;
    };
    const only = ['update'] as const;
    const first = await certification(await refusing(), { only });
    expect(written(first)).toEqual({ updates: 'skip' });
    const second = await certification(await refusing(), { dialect: takenOver(first), only });
    expect(ids(second, 'failed')).toEqual([]);
    expect(ids(second, 'skipped').every((id) => /^update-|-other-(?:token|player)$/.test(id))).toBe(
      true,
    );
    expect(ids(second, 'skipped').length).toBeGreaterThan(4);
  });

  it('puts the paths of the dialect into force', async () => {
    const paths = { profile: '/users/me', balance: '/users/money', bet: '/bets' };
    const certificate = await certification(await sandbox({ paths }), {
      dialect: { paths },
      only: ['profile', 'balance', 'place'],
    });
    expect(certificate.verdict).toBe('fit');
  });
});

describe('a code for a status', () => {
  it('is not suggested for 400, with which proxies refuse what a wallet may have executed', async () => {
    const wallet = await sandbox(answering.notEnoughAsBare400);
    const only = ['place', 'shape-refusal-code', 'shape-refusal-status'] as const;
    const { suggestions, withheld, verdict } = await certification(wallet, { only });
    expect({ suggestions, withheld, verdict }).toEqual({
      suggestions: [],
      withheld: [],
      verdict: 'not_fit',
    });
  });
});

describe('an item that would do harm', () => {
  it('is withheld, with the case that it would hide', async () => {
    const wallet = await sandbox({
      flaw: (call, books) =>
        flawed.refusesUnknownRollbacks.flaw?.(call, books) ??
        flawed.ignoresRollbackOfSettled(5).flaw?.(call, books),
    });
    const only = ['freebet', 'rollback', 'update'] as const;
    const { suggestions, withheld, verdict } = await certification(wallet, { only });
    expect(suggestions).toEqual([]);
    expect(withheld).toEqual([
      {
        item: 'rollbackConfirmedBy',
        yaml: 'rollbackConfirmedBy:\n  - 5',
        why: expect.stringContaining('it would hide what freebet-settled-rollback found'),
        cases: [
          'freebet-settled-rollback',
          'rollback-after-settle',
          'rollback-cashed-out',
          'rollback-corrected',
          'rollback-lost',
          'rollback-settle-race',
          'update-settled-rollback',
        ],
      },
    ]);
    expect(verdict).toBe('not_fit');
  });

  it('is never unknownCodes for a duplicate that the gateway never sends', async () => {
    const certificate = await certification(await sandbox(flawed.shiftsDuplicates(5)), {
      only: ['place'],
    });
    expect(certificate.suggestions).toEqual([]);
    expect(certificate.verdict).toBe('fit');
  });

  it.each([0, 10])(
    'is never a meaning for code %i of a place, which says nothing about a debit (I2)',
    async (code) => {
      for (const mistake of [answering.refusesAllAs(code), answering.answersNotEnoughAs(code)]) {
        const wallet = await sandbox(mistake);
        const certificate = await certification(wallet, { only: ['place', 'profile'] });
        expect(ids(certificate, 'failed')).toContain('place-not-enough');
        expect(written(certificate).mapCodes ?? {}).not.toHaveProperty('place');
      }
    },
  );

  it('is not unknownRepeats where the unsettle itself is wrong', async () => {
    const certificate = await certification(await sandbox(flawed.keepsUnsettledPayouts), {
      only: ['unsettle'],
    });
    expect(certificate.suggestions).toEqual([]);
  });
});

// The same holds for wallets that book wrongly: `flawed-wallets`.
describe('no dialect is suggested', () => {
  it.each([
    ['that would take declines for bets', 'place', { kind: 'empty', effect: 'none' }],
    ['for a wallet that fails', 'settle', { kind: 'code', code: 100 }],
    ['for a server error', 'place', { kind: 'status', status: 500, body: '{"code":7}' }],
    ['for a page of a proxy', 'settle', { kind: 'html' }],
  ] as const satisfies readonly (readonly [string, Operation, Misbehaviour])[])(
    '%s',
    async (_what, operation, misbehaviour) => {
      const wallet = await sandbox();
      wallet.misbehave(operation, misbehaviour);
      const certificate = await certification(wallet, { only: [operation] });
      expect(ids(certificate, 'failed')).not.toEqual([]);
      expect(certificate.suggestions).toEqual([]);
    },
  );

  it('that takes a refused rollback of a bet with a stake for a refund', async () => {
    const wallet = await sandbox();
    wallet.misbehave('rollback', { kind: 'code', code: 5 });
    const { suggestions } = await certification(wallet, { only: ['rollback'] });
    expect(suggestions).toEqual([]);
  });
});
