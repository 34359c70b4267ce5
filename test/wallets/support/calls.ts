import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { Deadline } from '../../../src/domain/deadline.ts';
import type { BetCall, ReadCall } from '../../../src/wallets/call.ts';
import type { WalletOperator, WalletSettings } from '../../../src/wallets/wallet-config.ts';

/** A deadline that leaves the wallet this much time from now on. */
export function deadlineIn(walletMs: number, clock: Clock = systemClock): Deadline {
  return new Deadline(clock, clock.monotonicMs(), walletMs, 0);
}

/** A clock that is moved by hand. */
export function manualClock(): Clock & { advance(ms: number): void } {
  let nowMs = 1_000;
  return {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    advance: (ms) => {
      nowMs += ms;
    },
  };
}

export function betCall(changes: Partial<BetCall> = {}): BetCall {
  const transactionId = changes.transactionId ?? randomUUID();
  return {
    operation: 'place',
    method: 'POST',
    body: JSON.stringify({ transactionId, type: 1, amount: 12.5 }),
    transactionId,
    requestId: randomUUID(),
    deadline: deadlineIn(4000),
    ...changes,
  };
}

export function readCall(changes: Partial<ReadCall> = {}): ReadCall {
  return {
    operation: 'balance',
    body: '{"userId":"u1"}',
    requestId: randomUUID(),
    deadline: deadlineIn(4000),
    ...changes,
  };
}

export const SECRET = 'wallet-secret';

export function walletSettings(changes: Partial<WalletSettings> = {}): WalletSettings {
  return {
    adapter: 'native',
    baseUrl: 'http://127.0.0.1:9/sportsbook',
    allowPrivate: true,
    secrets: [SECRET],
    timeoutMs: 4000,
    maxConcurrent: { read: 8, money: 8 },
    breaker: { errorPercent: 50, minRequests: 20, windowMs: 10_000, openMs: 5000 },
    dialect: {},
    ...changes,
  };
}

export function walletConfig(
  id: string,
  wallet: Partial<WalletSettings>,
  status: WalletOperator['status'] = 'active',
): WalletOperator {
  return { id, status, wallet: walletSettings(wallet) };
}
