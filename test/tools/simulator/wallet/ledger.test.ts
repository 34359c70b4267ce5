import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addAmounts, canonicalAmount } from '../../../../src/domain/amount.ts';
import type { BetOperation } from '../../../../src/domain/operation.ts';
import { Arrivals } from '../../../../tools/simulator/wallet/arrivals.ts';
import type {
  BetWalletCall,
  Coefficients,
  ResultType,
} from '../../../../tools/simulator/wallet/calls.ts';
import { Ledger, netOf } from '../../../../tools/simulator/wallet/ledger.ts';
import { Players } from '../../../../tools/simulator/wallet/players.ts';

const ODDS: Coefficients = { coefficient: '1.2', boosterCoefficient: '1', outcomes: ['1.2'] };

interface Wish {
  readonly bet?: string;
  readonly user?: string;
  readonly amount?: string;
  readonly currency?: string;
  readonly token?: string | undefined;
  readonly resultType?: ResultType;
  readonly coefficients?: Coefficients;
}

function call(operation: BetOperation, wish: Wish = {}): BetWalletCall {
  const { bet = 'bet-1', user = 'ann', amount = '12.10', currency = 'USD' } = wish;
  const kind = { isFreebet: false, isTurbogames: false, boosterCoefficient: '1' };
  const fields = { requestId: 'request', transactionId: bet, userId: user, amount, currency, kind };
  const token = 'token' in wish ? wish.token : 'ann-usd';
  switch (operation) {
    case 'place':
    case 'update':
      return { ...fields, token, operation, coefficients: wish.coefficients ?? ODDS };
    case 'settle':
      return { ...fields, token, operation, resultType: wish.resultType ?? 'won' };
    case 'unsettle':
    case 'rollback':
      return { ...fields, token, operation };
  }
}

function createLedger() {
  const players = new Players();
  players.add({
    user: 'ann',
    balances: { USD: '100', EUR: '50' },
    tokens: { 'ann-usd': 'USD', 'ann-eur': 'EUR' },
  });
  players.add({ user: 'bob', balances: { USD: '100' }, tokens: { 'bob-usd': 'USD' } });
  let nowMs = 0;
  const tick = () => {
    nowMs += 1000;
    return nowMs;
  };
  const ledger = new Ledger(players, new Arrivals(), { nowMs: tick, monotonicMs: tick });
  return {
    players,
    bet: (id = 'bet-1') => ledger.bets.get(id),
    bets: () => [...ledger.bets.values()],
    dollars: () => players.balance('ann', 'USD'),
    does: (operation: BetOperation, wish?: Wish) => ledger.book(call(operation, wish)),
  };
}

const applied = expect.objectContaining({ kind: 'accepted', effect: 'applied' });
const nothing = expect.objectContaining({ kind: 'accepted', effect: 'nothing' });
const declined = (code: number) => expect.objectContaining({ kind: 'declined', code });

describe('place', () => {
  it('debits the stake exactly', () => {
    const { does, bet, dollars } = createLedger();
    expect(does('place')).toEqual(applied);
    expect(dollars()).toBe('87.9');
    expect(bet()).toMatchObject({ status: 'waiting', stake: '12.10', paid: '0' });
  });

  it('answers a duplicate with the first answer and debits once (I5)', () => {
    const { does, players, dollars } = createLedger();
    const first = does('place');
    players.endToken('ann-usd', 'expired');
    expect(does('place', { amount: '12.1' })).toEqual({ ...first, effect: 'repeated' });
    expect(dollars()).toBe('87.9');
  });

  it.each([
    ['amount', { amount: '12.11' }],
    ['currency', { currency: 'EUR', token: 'ann-eur' }],
    ['player', { user: 'bob', token: 'bob-usd' }],
  ])('refuses a known transactionId with another %s with code 5 (I10)', (_what, wish) => {
    const { does, dollars } = createLedger();
    does('place');
    expect(does('place', wish)).toEqual(declined(5));
    expect(dollars()).toBe('87.9');
  });

  it('refuses a stake above the balance with code 7, and takes one that empties it', () => {
    const { does, bet, dollars } = createLedger();
    expect(does('place', { amount: '100.000001' })).toEqual(declined(7));
    expect(bet()).toBeUndefined();
    expect(does('place', { amount: '100.0' })).toEqual(applied);
    expect(dollars()).toBe('0');
  });

  it.each([
    ['unknown', { token: 'nobody' }],
    ['missing', { token: undefined }],
    ["another player's", { token: 'bob-usd' }],
    ["another currency's", { token: 'ann-eur' }],
  ])('refuses a token that is %s with code 3', (_what, wish) => {
    expect(createLedger().does('place', wish)).toEqual(declined(3));
  });

  it('refuses an expired token with code 4 and a revoked one with code 3', () => {
    const { does, players } = createLedger();
    players.endToken('ann-usd', 'expired');
    expect(does('place')).toEqual(declined(4));
    players.endToken('ann-usd', 'revoked');
    expect(does('place')).toEqual(declined(3));
  });
});

describe('settle', () => {
  it.each([
    ['won', '14.54', '102.44'],
    ['lost', '0', '87.9'],
    ['refund', '12.1', '100'],
    ['cashout', '10', '97.9'],
  ] as const)('pays a bet %s with %s', (resultType, amount, balance) => {
    const { does, dollars, bet } = createLedger();
    does('place');
    expect(does('settle', { resultType, amount })).toEqual(applied);
    expect(dollars()).toBe(balance);
    expect(bet()).toMatchObject({ status: 'settled', paid: amount, resultType });
  });

  it('pays the same result once however often it comes (I5)', () => {
    const { does, dollars } = createLedger();
    does('place');
    const first = does('settle', { amount: '14.5' });
    expect(does('settle', { amount: '14.50' })).toEqual({ ...first, effect: 'repeated' });
    expect(dollars()).toBe('102.4');
  });

  it('takes the earlier payout back when the result is corrected', () => {
    const { does, dollars } = createLedger();
    does('place');
    does('settle', { amount: '14.54' });
    expect(does('settle', { amount: '0', resultType: 'lost' })).toEqual(applied);
    expect(dollars()).toBe('87.9');
    expect(does('settle', { amount: '12.10', resultType: 'refund' })).toEqual(applied);
    expect(dollars()).toBe('100');
  });

  it('asks only a cashout for a token, of any session of that player', () => {
    const { does, players } = createLedger();
    does('place');
    expect(does('settle', { token: undefined, amount: '1' })).toEqual(applied);
    const cashout = { resultType: 'cashout', amount: '10' } as const;
    expect(does('settle', { ...cashout, token: undefined })).toEqual(declined(3));
    expect(does('settle', { ...cashout, token: 'bob-usd' })).toEqual(declined(3));
    players.endToken('ann-usd', 'expired');
    expect(does('settle', cashout)).toEqual(declined(4));
    expect(does('settle', { ...cashout, token: 'ann-eur' })).toEqual(applied);
    expect(does('settle', cashout)).toMatchObject({ effect: 'repeated' });
  });

  it('refuses an unknown bet and one that is rolled back with code 5', () => {
    const { does, dollars } = createLedger();
    expect(does('settle')).toEqual(declined(5));
    does('place');
    does('rollback');
    expect(does('settle')).toEqual(declined(5));
    expect(dollars()).toBe('100');
  });
});

describe('unsettle', () => {
  it('takes the payout back once, and the bet can have a result again (I5)', () => {
    const { does, dollars, bet } = createLedger();
    does('place');
    does('settle', { amount: '14.54' });
    const first = does('unsettle', { amount: '14.54' });
    expect(first).toEqual(applied);
    expect(does('unsettle', { amount: '14.54' })).toEqual({ ...first, effect: 'repeated' });
    expect(dollars()).toBe('87.9');
    expect(bet()).toMatchObject({ status: 'waiting', paid: '0' });
    expect(does('settle', { amount: '14.54' })).toEqual(applied);
    expect(dollars()).toBe('102.44');
  });

  it('has nothing to do for a bet never settled', () => {
    const { does, dollars } = createLedger();
    does('place');
    expect(does('unsettle')).toEqual(nothing);
    expect(dollars()).toBe('87.9');
  });
});

describe('rollback', () => {
  it('gives the stake back once (I5)', () => {
    const { does, dollars } = createLedger();
    does('place');
    const first = does('rollback');
    expect(first).toEqual(applied);
    expect(does('rollback')).toEqual({ ...first, effect: 'repeated' });
    expect(dollars()).toBe('100');
  });

  it('takes the payout back too when the bet is settled', () => {
    const { does, dollars, bet } = createLedger();
    does('place');
    does('settle', { amount: '40' });
    expect(does('rollback')).toEqual(applied);
    expect(dollars()).toBe('100');
    expect(bet()).toMatchObject({ status: 'rolled_back', paid: '0' });
  });

  it('confirms an unknown bet and refuses its late place bet with code 8 (I6)', () => {
    const { does, dollars, bet } = createLedger();
    expect(does('rollback', { token: undefined })).toEqual(nothing);
    expect(bet()).toMatchObject({ status: 'tombstone' });
    expect(does('place')).toEqual(declined(8));
    expect(does('rollback')).toMatchObject({ effect: 'repeated' });
    expect(dollars()).toBe('100');
  });

  it('refuses a place bet that comes again after the rollback (I6)', () => {
    const { does, dollars } = createLedger();
    does('place');
    does('rollback');
    expect(does('place')).toEqual(declined(8));
    expect(dollars()).toBe('100');
  });
});

describe('update', () => {
  it('stores the odds and moves no money, also after a settle', () => {
    const { does, dollars, bet } = createLedger();
    const coefficients = { coefficient: '1.30', boosterCoefficient: '1.05', outcomes: ['1.30'] };
    does('place');
    does('settle', { amount: '14.54' });
    expect(does('update', { coefficients })).toEqual(applied);
    expect(does('update', { coefficients })).toMatchObject({ effect: 'repeated' });
    expect(bet()?.coefficients).toEqual(coefficients);
    expect(bet()?.status).toBe('settled');
    expect(dollars()).toBe('102.44');
  });

  it('has nothing to do for an unknown bet', () => {
    const { does, bet } = createLedger();
    expect(does('update')).toEqual(nothing);
    expect(bet()).toBeUndefined();
  });
});

it.each(['settle', 'unsettle', 'rollback', 'update'] as const)(
  "refuses a %s that names a bet with another player's userId",
  (operation) => {
    const { does, dollars } = createLedger();
    does('place');
    expect(does(operation, { user: 'bob', token: 'bob-usd' })).toEqual(declined(5));
    expect(dollars()).toBe('87.9');
  },
);

it('holds, after any calls in any order, what was deposited plus what the bets moved (I5)', () => {
  const operation = fc.constantFrom('place', 'settle', 'unsettle', 'rollback', 'update');
  const step = fc.record({
    operation,
    bet: fc.constantFrom('bet-1', 'bet-2'),
    amount: fc.constantFrom('0', '12.10', '0.1', '33.333', '2e1'),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const { does, bets, dollars } = createLedger();
      for (const { operation: name, ...wish } of steps) does(name as BetOperation, wish);
      const moved = bets().map(netOf).reduce(addAmounts, '0');
      expect(dollars()).toBe(canonicalAmount(addAmounts('100', moved)));
    }),
  );
});
