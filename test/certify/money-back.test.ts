import { describe, expect, it } from 'vitest';
import type { Misbehaviour } from '../../tools/simulator/wallet/misbehaviour.ts';
import { certification, sandbox } from './support/certification.ts';
import { keepsPayoutOnRollback } from './support/flawed-wallets.ts';
import { acceptsTheUnreadable } from './support/plain-mistakes.ts';

describe('what a run has put on the table comes back', () => {
  it.each<[string, Misbehaviour]>([
    ['by code 100', { kind: 'code', code: 100, effect: 'applied' }],
    ['by code 10, a timeout behind it', { kind: 'code', code: 10, effect: 'applied' }],
    ['by code 8, as its own duplicate', { kind: 'code', code: 8, effect: 'applied' }],
    ['by 408 of a proxy', { kind: 'status', status: 408, effect: 'applied' }],
  ])('from a wallet that refuses places %s and has debited them', async (_, misbehaviour) => {
    const wallet = await sandbox();
    wallet.misbehave('place', misbehaviour);
    const { verdict, money } = await certification(wallet, { only: ['place'] });
    expect(verdict).toBe('not_fit');
    expect([...wallet.bets.values()].filter(({ status }) => status === 'waiting')).toEqual([]);
    expect(money).toEqual({ before: '1000', after: '1000', difference: '0' });
  });

  it('from a wallet that has paid what it answers 100, and whose rollback leaves payouts', async () => {
    const wallet = await sandbox(keepsPayoutOnRollback);
    wallet.misbehave('settle', { kind: 'code', code: 100, effect: 'applied' });
    const { verdict, money } = await certification(wallet, { only: ['settle-won'] });
    expect(verdict).toBe('not_fit');
    expect(money.difference).toBe('0');
  });

  it('from a wallet that says yes to a rollback with a foreign signature, and does nothing', async () => {
    const wallet = await sandbox(acceptsTheUnreadable);
    const only = ['signature-foreign-rollback'];
    const { verdict, money } = await certification(wallet, { only });
    expect(verdict).toBe('not_fit');
    expect([...wallet.bets.values()].map(({ status }) => status)).toEqual(['rolled_back']);
    expect(money.difference).toBe('0');
  });
});
