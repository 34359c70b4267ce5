import { jsonString } from '../../../src/protocol/json.ts';
import type { BalanceCall, ProfileCall } from './calls.ts';
import type { Verdict } from './ledger.ts';
import type { Players, TokenVerdict } from './players.ts';

/** An HTTP answer before it is written. */
export interface WireAnswer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** 400 with a code and a message, the protocol's error (service protocol, Errors). */
export function failure(code: number, message: string): WireAnswer {
  return { status: 400, body: `{"code":${code},"message":${jsonString(message)}}` };
}

export function betAnswer(transactionId: string, verdict: Verdict): WireAnswer {
  if (verdict.kind === 'declined') return failure(verdict.code, verdict.message);
  return accepted(transactionId, verdict.transactionTime);
}

export function accepted(transactionId: string, transactionTime: string): WireAnswer {
  const body = `{"transactionId":${jsonString(transactionId)},"transactionTime":${jsonString(transactionTime)}}`;
  return { status: 200, body };
}

export function profileAnswer(players: Players, call: ProfileCall): WireAnswer {
  const holder = players.token(call.token);
  if (holder.kind !== 'live') return tokenFailure(holder);
  const { user } = holder;
  const seed = players.seed(user);
  const profile = {
    userId: user,
    currency: players.activeCurrency(user) ?? holder.currency,
    currencies: players.currencies(user),
    isTest: seed.isTest ?? false,
    customFields: {
      nickname: user,
      firstName: 'John',
      lastName: 'Smith',
      isCashOutAllowed: true,
      isVerified: true,
      userCountry: 'GB',
      userStatus: 'positive',
      registrationDate: '2019-09-10 12:00:01',
      percentMargin: 13.2,
      avgBet: 12,
      ...seed.customFields,
    },
  };
  return { status: 200, body: JSON.stringify(profile) };
}

export function balanceAnswer(players: Players, call: BalanceCall): WireAnswer {
  const holder = players.token(call.token);
  if (holder.kind !== 'live') return tokenFailure(holder);
  const { user, currency } = holder;
  if (user !== call.userId || currency !== call.currency) return failure(3, 'Invalid token');
  // Written by hand: the amount's exact text must not pass through a double (I9).
  const amount = players.balance(user, currency);
  const body = `{"userId":${jsonString(user)},"currency":${jsonString(currency)},"amount":${amount}}`;
  return { status: 200, body };
}

function tokenFailure(verdict: Exclude<TokenVerdict, { kind: 'live' }>): WireAnswer {
  return verdict.kind === 'expired'
    ? failure(4, 'Token is out of date')
    : failure(3, 'Invalid token');
}
