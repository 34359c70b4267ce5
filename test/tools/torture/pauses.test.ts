import { describe, expect, it } from 'vitest';
import { type Pause, pauseFindings } from '../../../tools/torture/check/pauses.ts';
import type { BetPlan } from '../../../tools/torture/plan/plan.ts';
import { CHARACTERS } from '../../../tools/torture/plan/plan.ts';
import { newRecord, type Send } from '../../../tools/torture/service/record.ts';
import type { WalletCall } from '../../../tools/torture/world/ledger.ts';
import { type Arrival, Wallet } from '../../../tools/torture/world/wallet.ts';

const PLAN: BetPlan = {
  ...{ id: 'b0', operator: 'alpha', stake: '10', startMs: 0, isFreebet: false },
  ...{ isForgotten: false, begins: 'here', refuses: {}, steps: [], fates: [] },
};
const PLAYER = { userId: 'u-agg', token: 'token', operatorToken: 'token', user: 'u' };

function sent(operation: Send['operation'], requestId: string, endedAtMs: number): Send {
  return {
    ...{ step: 's', kind: 'first', status: 200, code: undefined, body: '', failure: undefined },
    ...{ operation, requestId, atMs: endedAtMs - 10, endedAtMs, isConfirmed: true, entrance: 0 },
  };
}

/** A wallet that received a settle at this time. */
function walletThatGot(requestId: string, atMs: number): Wallet {
  const wallet = new Wallet('alpha', CHARACTERS.alpha, 'secret');
  const call = { operation: 'settle', requestId } as WalletCall;
  const arrival: Arrival = {
    ...{ call, atMs, doneAtMs: atMs, endedAtMs: atMs + 1, isUncertain: false },
  };
  wallet.arrivals = () => [arrival];
  return wallet;
}

const found = (sends: readonly Send[], wallet: Wallet, pause: Pause) =>
  pauseFindings({ ...newRecord(PLAN, 't', PLAYER), sends: [...sends] }, wallet, [pause]).length;

describe('what a person held', () => {
  const held: Pause = { kind: 'held', operator: 'alpha', fromMs: 1_000, toMs: 3_000 };
  const promised = [sent('settle', 'r', 900)];

  it('reaches the wallet nevertheless', () => {
    expect(found(promised, walletThatGot('r', 2_000), held)).toBe(1);
  });

  it.each([
    ['before', 1_100],
    ['after', 3_100],
  ])('may come %s that', (_, atMs) => {
    expect(found(promised, walletThatGot('r', atMs), held)).toBe(0);
  });

  it('does not hold what the service asks for just now', () => {
    expect(found([sent('settle', 'r', 2_010)], walletThatGot('r', 2_000), held)).toBe(0);
  });

  it('is the business of its operator alone', () => {
    expect(found(promised, walletThatGot('r', 2_000), { ...held, operator: 'beta' })).toBe(0);
  });
});

describe('a bet of the wallet before', () => {
  const pause: Pause = {
    ...{ kind: 'otherWallet', operator: 'alpha', fromMs: 1_000, toMs: 3_000, raisedMs: 500 },
  };

  it('is asked for at the new one', () => {
    expect(found([sent('place', 'p', 400)], walletThatGot('r', 2_000), pause)).toBe(1);
  });

  it('is not one that was placed since', () => {
    expect(found([sent('place', 'p', 600)], walletThatGot('r', 2_000), pause)).toBe(0);
  });
});
