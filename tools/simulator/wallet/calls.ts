import { addAmounts, isNonNegativeFinite } from '../../../src/domain/amount.ts';
import type { BetOperation } from '../../../src/domain/operation.ts';
import { type JsonDocument, JsonError, parseJsonObject } from '../../../src/protocol/json.ts';

const RESULT_TYPES = ['won', 'lost', 'refund', 'cashout'] as const;
export type ResultType = (typeof RESULT_TYPES)[number];

/** The odds that a bet data update can change, each with its exact text. */
export interface Coefficients {
  readonly coefficient: string | undefined;
  readonly boosterCoefficient: string | undefined;
  /** `metadata[].coefficient`, in the order of the metadata. */
  readonly outcomes: readonly (string | undefined)[];
}

export interface ProfileCall {
  readonly operation: 'profile';
  readonly requestId: string;
  readonly token: string;
}

export interface BalanceCall {
  readonly operation: 'balance';
  readonly requestId: string;
  readonly token: string;
  readonly userId: string;
  readonly currency: string;
}

/** What distinguishes bets that are booked alike. */
export interface BetKind {
  readonly isFreebet: boolean;
  readonly isTurbogames: boolean;
  /** Exact text of the JSON number. */
  readonly boosterCoefficient: string | undefined;
}

interface BetCallFields {
  readonly requestId: string;
  readonly transactionId: string;
  readonly userId: string;
  /** Exact text of the JSON number. */
  readonly amount: string;
  readonly currency: string;
  readonly token: string | undefined;
  readonly kind: BetKind;
}

export interface PlaceCall extends BetCallFields {
  readonly operation: 'place';
  readonly coefficients: Coefficients;
}
export interface SettleCall extends BetCallFields {
  readonly operation: 'settle';
  readonly resultType: ResultType;
}
export interface UnsettleCall extends BetCallFields {
  readonly operation: 'unsettle';
}
export interface RollbackCall extends BetCallFields {
  readonly operation: 'rollback';
}
export interface UpdateCall extends BetCallFields {
  readonly operation: 'update';
  readonly coefficients: Coefficients;
}

export type BetWalletCall = PlaceCall | SettleCall | UnsettleCall | RollbackCall | UpdateCall;

/** A callback as the wallet understands it, read without rounding any number. */
export type WalletCall = ProfileCall | BalanceCall | BetWalletCall;

export type WalletPath = 'profile' | 'balance' | 'bet';

class Unreadable extends Error {}

/**
 * Reads a callback. @param path which of the wallet's three was called @param body as it arrived
 * @returns the call, or why it cannot be read, for a 400 with code 5
 */
export function readCall(
  path: WalletPath,
  method: string,
  body: Buffer,
): { readonly ok: true; readonly call: WalletCall } | { readonly ok: false; readonly why: string } {
  try {
    const document = parseJsonObject(body);
    return { ok: true, call: callOf(path, method, document) };
  } catch (error) {
    if (error instanceof Unreadable || error instanceof JsonError) {
      return { ok: false, why: error.message };
    }
    throw error;
  }
}

function callOf(path: WalletPath, method: string, document: JsonDocument): WalletCall {
  const requestId = text(document, 'requestId');
  if (path === 'profile') {
    return { operation: 'profile', requestId, token: text(document, 'token') };
  }
  if (path === 'balance') {
    return {
      operation: 'balance',
      requestId,
      token: text(document, 'token'),
      userId: text(document, 'userId'),
      currency: text(document, 'currency'),
    };
  }
  const fields: BetCallFields = {
    requestId,
    transactionId: text(document, 'transactionId'),
    userId: text(document, 'userId'),
    amount: amount(document),
    currency: text(document, 'currency'),
    token: document.has('token') ? text(document, 'token') : undefined,
    kind: {
      isFreebet: document.numberText('bonusId') !== undefined,
      isTurbogames: document.value.gameType === 'turbogames',
      boosterCoefficient: document.numberText('boosterCoefficient'),
    },
  };
  const operation = betOperation(method, document);
  switch (operation) {
    case 'place':
    case 'update':
      return { ...fields, operation, coefficients: coefficients(document) };
    case 'settle':
      return { ...fields, operation, resultType: resultType(document) };
    case 'unsettle':
    case 'rollback':
      return { ...fields, operation };
    default:
      throw new Unreadable(`type does not fit the method ${method}`);
  }
}

function betOperation(method: string, document: JsonDocument): BetOperation | undefined {
  const type = document.numberText('type');
  if (method === 'POST') return type === '1' ? 'place' : undefined;
  switch (type) {
    case '1':
      return 'unsettle';
    case '2':
      return 'settle';
    case '3':
      return 'rollback';
    case '5':
      return 'update';
    default:
      return undefined;
  }
}

function text(document: JsonDocument, name: string): string {
  const value = document.value[name];
  if (typeof value !== 'string' || value === '') throw new Unreadable(`${name} is not a text`);
  return value;
}

function amount(document: JsonDocument): string {
  const number = document.numberText('amount');
  if (number === undefined || !isNonNegativeFinite(number) || !isCountable(number)) {
    throw new Unreadable('amount is not a number of 0 or more');
  }
  return number;
}

/** Whether the books can hold it: a sum has a limited number of places. */
function isCountable(number: string): boolean {
  try {
    addAmounts('0', number);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function resultType(document: JsonDocument): ResultType {
  const found = RESULT_TYPES.find((known) => known === document.value.resultType);
  if (found === undefined) throw new Unreadable('resultType is not known');
  return found;
}

function coefficients(document: JsonDocument): Coefficients {
  return {
    coefficient: document.numberText('coefficient'),
    boosterCoefficient: document.numberText('boosterCoefficient'),
    outcomes: (document.items('metadata') ?? []).map((item) => item?.numberText('coefficient')),
  };
}
