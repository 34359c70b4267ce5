import { describe, expect, it, vi } from 'vitest';
import type { Bet, Busy } from '../../../src/domain/bet.ts';
import type { Engine } from '../../../src/operations/engine.ts';
import { findRecoveredBet, locate, unseenBet } from '../../../src/operations/find-bet.ts';
import { deliverySettings } from '../../../src/operations/operator-settings.ts';
import type { Players } from '../../../src/store/sessions/players.ts';
import { FRESH } from '../../domain/support/fresh-bet.ts';
import { partly } from '../../support/partly.ts';

const OWNER = { operatorId: 'alpha', playerId: '1', userId: 'u', operatorUser: 'ann' };
const MESSAGE = { transactionId: FRESH.transactionId, userId: 'u' };
const configuration = {
  gateway: { delivery: { horizonHours: 72 } },
  operators: new Map([['alpha', { wallet: { generation: 3 }, delivery: { horizonHours: 5 } }]]),
};

/** Bets as each look finds them, and a player who is known or not. */
function engineOf(looks: readonly (Bet | undefined)[], owner?: typeof OWNER) {
  const left = [...looks];
  const recover = vi.fn(async () => true);
  const count = vi.fn();
  const engine = partly<Engine & { players: Players }>({
    bets: { find: async () => left.shift(), recover },
    players: { findForBet: async () => owner && { owner, released: 2, releasedTo: 4 } },
    metrics: { unknownOutcomes: { inc: count } },
    configuration: () => configuration,
  });
  return { engine, recover, count };
}

const lapsed = (operation: Busy['operation']): Bet => ({
  ...FRESH,
  busy: { operation, attemptId: 'gone', lapsed: true },
});

describe('the player whom an operation concerns', () => {
  it('is known from the journal, even without a session', async () => {
    expect(await locate(engineOf([FRESH]).engine, MESSAGE)).toEqual({ kind: 'bet', bet: FRESH });
  });

  it('is nobody else than the player it names (I8)', async () => {
    const found = await locate(engineOf([FRESH]).engine, { ...MESSAGE, userId: 'another' });
    expect(found).toEqual({ kind: 'foreign', operatorId: 'alpha' });
  });

  it('is the one that the message names if the journal knows none', async () => {
    const bet = { ...FRESH, owner: undefined };
    expect(await locate(engineOf([bet]).engine, MESSAGE)).toEqual({ kind: 'bet', bet });
  });
});

describe('a bet whose process is gone', () => {
  it('is read again after what was in flight is called unknown, and that is counted (I2)', async () => {
    const { engine, recover, count } = engineOf([lapsed('settle'), FRESH]);
    expect(await findRecoveredBet(engine, 'bet')).toBe(FRESH);
    expect(recover.mock.calls).toEqual([['bet', 'gone']]);
    expect(count.mock.calls).toEqual([[{ operator: 'alpha', operation: 'settle' }]]);
  });

  it.each(['rollback', 'update', 'confirm'] as const)(
    'counts no unknown outcome of a %s, which is promised or changes nothing',
    async (operation) => {
      const { engine, recover, count } = engineOf([lapsed(operation), FRESH]);
      await findRecoveredBet(engine, 'bet');
      expect([recover.mock.calls.length, count.mock.calls.length]).toEqual([1, 0]);
    },
  );

  it('is left alone while its lease lasts', async () => {
    const busy: Bet = { ...FRESH, busy: { operation: 'place', attemptId: 'here', lapsed: false } };
    const { engine, recover } = engineOf([busy]);
    expect(await findRecoveredBet(engine, 'bet')).toBe(busy);
    expect(recover).not.toHaveBeenCalled();
  });
});

describe('an unseen bet', () => {
  it('holds nothing, and is of its operator’s present wallet', () => {
    const { engine } = engineOf([]);
    expect(unseenBet(engine, 'new', OWNER)).toEqual({
      ...FRESH,
      transactionId: 'new',
      owner: OWNER,
      sessionId: undefined,
      amount: undefined,
      currency: undefined,
      generation: 3,
      place: { kind: 'unseen' },
      version: 0,
    });
    const nobodys = unseenBet(engine, 'new', undefined);
    expect([nobodys.owner, nobodys.generation]).toEqual([undefined, 1]);
    expect(unseenBet(engine, 'new', { ...OWNER, operatorId: 'gone' }).generation).toBe(0);
  });
});

describe('settings of a delivery', () => {
  const settings = partly<Parameters<typeof deliverySettings>[0]>(configuration);

  it('are its operator’s, and the gateway’s where the operator’s file is gone', () => {
    expect(deliverySettings(settings, 'alpha').horizonHours).toBe(5);
    expect(deliverySettings(settings, 'gone').horizonHours).toBe(72);
  });
});
