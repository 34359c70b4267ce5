import { RESULT_TYPES, type ResultType } from '../domain/bet.ts';
import type { BetOperation } from '../domain/operation.ts';
import { unreachable } from '../domain/unreachable.ts';
import { checkCoefficients, coefficientsKey } from './coefficients.ts';
import {
  amount,
  checkOptionalNumber,
  checkOptionalString,
  IDENTIFIER,
  integerIfAny,
  optionalAmount,
  optionalCurrency,
  optionalText,
  requiredCurrency,
  requiredText,
  requiredWord,
  type TextBounds,
} from './fields.ts';
import { type JsonDocument, JsonError, parseJsonObject } from './json.ts';
import { type Repairs, repairsOf } from './odd-members.ts';

/**
 * The callbacks, read and checked. Members that the gateway does not act on stay in `document`, from which the
 * message to the wallet is made.
 */
export type Callback = ProfileRequest | BalanceRequest | BetRequest;
export type BetRequest =
  | PlaceRequest
  | SettleRequest
  | UnsettleRequest
  | RollbackRequest
  | UpdateRequest;

interface Request {
  readonly document: JsonDocument;
  /** For troubleshooting only; undefined if it could not be sent in an HTTP header. */
  readonly requestId: string | undefined;
}

export interface ProfileRequest extends Request {
  readonly operation: 'profile';
  readonly token: string;
  /** The protocol's profile has neither; if one is sent, it must match the token's. */
  readonly userId?: string | undefined;
  readonly currency?: string | undefined;
}

export interface BalanceRequest extends Request {
  readonly operation: 'balance';
  readonly token: string;
  readonly userId: string;
  readonly currency: string;
}

interface AboutBet extends Request {
  /** Opaque; compared exactly. */
  readonly transactionId: string;
  readonly userId: string;
}

export interface PlaceRequest extends AboutBet {
  readonly operation: 'place';
  readonly token: string;
  /** The stake, with its exact text. */
  readonly amount: string;
  readonly currency: string;
  readonly subPartnerId: string | null;
}

export interface SettleRequest extends AboutBet {
  readonly operation: 'settle';
  /** What the player receives, with its exact text. */
  readonly amount: string;
  readonly currency?: string | undefined;
  readonly resultType: ResultType;
  /** Sent with a cashout; a cashout without one is answered with code 3, not code 5. */
  readonly token?: string | undefined;
}

interface FollowUp {
  readonly amount?: string | undefined;
  readonly currency?: string | undefined;
  readonly token?: string | undefined;
}

export interface UnsettleRequest extends AboutBet, FollowUp {
  readonly operation: 'unsettle';
}

/** Never refused for a member that it does not need: an odd one is undefined here. */
interface Unrefused extends Request, FollowUp {
  readonly transactionId: string;
  /** Needed only where the bet is not in the journal. */
  readonly userId?: string | undefined;
  /** What replaces the odd members in the message to the wallet. */
  readonly repairs: Repairs;
}

export interface RollbackRequest extends Unrefused {
  readonly operation: 'rollback';
  /** The reason (service protocol, Events). */
  readonly errorCode?: number | undefined;
}

export interface UpdateRequest extends Unrefused {
  readonly operation: 'update';
  /** The same for updates to the same odds; see `coefficientsKey`. */
  readonly coefficientsKey: string;
}

/** A message, or what is wrong with it: `why` continues `field`, or is a sentence without one. */
export type ParseResult<T> =
  | { readonly ok: true; readonly message: T }
  | { readonly ok: false; readonly field: string | undefined; readonly why: string };

/** Wider than the protocol's 10-64: a token of another length is only unknown (code 3). */
const TOKEN: TextBounds = { lengthMin: 1, lengthMax: 256 };

/** PostgreSQL indexes no text above 2.7 KB: a place with a longer stake could never be written. */
const STAKE_CHARS_MAX = 1_000;

const HEADER_SAFE = /^[\x20-\x7e]{1,256}$/;

/** Reads `POST /user/profile`. */
export function parseProfile(bytes: Buffer): ParseResult<ProfileRequest> {
  return parsed(bytes, (document) => ({
    operation: 'profile',
    document,
    token: requiredText(document, 'token', TOKEN),
    userId: optionalText(document, 'userId'),
    currency: optionalText(document, 'currency'),
    requestId: requestId(document),
  }));
}

/** Reads `POST /user/balance` (service protocol, User balance). */
export function parseBalance(bytes: Buffer): ParseResult<BalanceRequest> {
  return parsed(bytes, (document) => ({
    operation: 'balance',
    document,
    token: requiredText(document, 'token', TOKEN),
    userId: requiredText(document, 'userId', IDENTIFIER),
    currency: requiredCurrency(document, 'currency'),
    requestId: requestId(document),
  }));
}

/** Reads `POST` and `PUT /payment/bet`; method and `type` together name the operation. */
export function parseBet(method: 'POST' | 'PUT', bytes: Buffer): ParseResult<BetRequest> {
  return parsed(bytes, (document) => {
    const operation = operationOf(method, document);
    switch (operation) {
      case 'place':
        return place(aboutBet(document));
      case 'settle':
        return settle(aboutBet(document));
      case 'unsettle':
        return { operation, ...aboutBet(document), ...followUp(document) };
      case 'rollback':
        return {
          operation,
          ...unrefused(document),
          errorCode: integerIfAny(document, 'errorCode'),
        };
      case 'update':
        return { operation, ...unrefused(document), coefficientsKey: coefficientsKey(document) };
      default:
        return unreachable(operation);
    }
  });
}

function parsed<T>(bytes: Buffer, read: (document: JsonDocument) => T): ParseResult<T> {
  try {
    return { ok: true, message: read(parseJsonObject(bytes)) };
  } catch (error) {
    if (error instanceof JsonError) return { ok: false, field: error.field, why: error.message };
    throw error;
  }
}

function operationOf(method: 'POST' | 'PUT', document: JsonDocument): BetOperation {
  const type = document.value.type;
  if (method === 'POST') {
    if (type === 1) return 'place';
    throw new JsonError('must be 1 with POST', 'type');
  }
  switch (type) {
    case 1:
      return 'unsettle';
    case 2:
      return 'settle';
    case 3:
      return 'rollback';
    case 5:
      return 'update';
    default:
      throw new JsonError('must be 1, 2, 3 or 5 with PUT', 'type');
  }
}

function aboutBet(document: JsonDocument): AboutBet {
  checkOptionalNumber(document, 'bonusAmount');
  checkCoefficients(document);
  return {
    document,
    transactionId: requiredText(document, 'transactionId', IDENTIFIER),
    userId: requiredText(document, 'userId', IDENTIFIER),
    requestId: requestId(document),
  };
}

function place(bet: AboutBet): PlaceRequest {
  return {
    operation: 'place',
    ...bet,
    token: requiredText(bet.document, 'token', TOKEN),
    amount: stake(bet.document),
    currency: requiredCurrency(bet.document, 'currency'),
    subPartnerId: optionalText(bet.document, 'subPartnerId') ?? null,
  };
}

function stake(document: JsonDocument): string {
  const text = amount(document, 'amount');
  if (text.length <= STAKE_CHARS_MAX) return text;
  throw new JsonError(`must have at most ${STAKE_CHARS_MAX} characters`, 'amount');
}

function settle(bet: AboutBet): SettleRequest {
  return {
    operation: 'settle',
    ...bet,
    amount: amount(bet.document, 'amount'),
    currency: optionalCurrency(bet.document, 'currency'),
    resultType: requiredWord(bet.document, 'resultType', RESULT_TYPES),
    token: optionalText(bet.document, 'token'),
  };
}

function followUp(document: JsonDocument): FollowUp {
  return {
    amount: optionalAmount(document, 'amount'),
    currency: optionalCurrency(document, 'currency'),
    token: optionalText(document, 'token'),
  };
}

function unrefused(document: JsonDocument): Unrefused {
  const transactionId = requiredText(document, 'transactionId', IDENTIFIER);
  const repairs = repairsOf(document);
  const unlessOdd = <T>(name: string, read: (document: JsonDocument, name: string) => T) =>
    Object.hasOwn(repairs, name) ? undefined : read(document, name);
  return {
    document,
    transactionId,
    userId: unlessOdd('userId', optionalText),
    amount: unlessOdd('amount', optionalAmount),
    currency: unlessOdd('currency', optionalCurrency),
    token: unlessOdd('token', optionalText),
    requestId: unlessOdd('requestId', requestId),
    repairs,
  };
}

function requestId(document: JsonDocument): string | undefined {
  const value = document.value.requestId;
  checkOptionalString(document, 'requestId');
  return typeof value === 'string' && HEADER_SAFE.test(value) ? value : undefined;
}
