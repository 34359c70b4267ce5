import { CODES, isCode, OPEN_PLACE_CODES } from '../../domain/codes.ts';
import type { Operation } from '../../domain/operation.ts';
import type { HttpResponse } from '../../outbound/http-message.ts';
import { type JsonDocument, JsonError, jsonObjectOrError } from '../../protocol/json.ts';
import type { CallerDialect } from '../call.ts';
import type { Dialect } from '../wallet-config.ts';
import { keptMessage } from './adapter.ts';

/*
 * The items of `wallet.dialect` that say how an answer is read; the others are in `native.ts`. Two rules stand above
 * all (I2): a status of 500 or above is never a refusal, and code 100 never becomes another one.
 */

/** An HTTP answer in the protocol's terms. */
export type NativeAnswer =
  /** `document` is undefined for an empty body that the dialect takes as an answer. */
  | { readonly kind: 'success'; readonly document: JsonDocument | undefined }
  | Refusal
  | {
      readonly kind: 'unclear';
      readonly fault: 'http_error' | 'bad_answer';
      readonly error: string;
    };

export interface Refusal {
  readonly kind: 'refusal';
  readonly status: number;
  /** The wallet's own code in the body; absent if only the status counts. */
  readonly bodyCode: number | undefined;
  readonly message: string | undefined;
}

const SUCCESS: readonly number[] = [200];
const REFUSAL = 400;
const SERVER_ERROR = 500;

/** No error, unless `okCodes` says otherwise; in a refusal no code was set, as in PHP exceptions. */
const NO_ERROR = 0;

/** Whether a refused place with this code of the wallet leaves open whether it debited. */
export function isOpenPlaceCode(code: number): boolean {
  return code === NO_ERROR || OPEN_PLACE_CODES.includes(code);
}

/** Classifies an answer as success, refusal or neither. */
export function nativeAnswer(response: HttpResponse, dialect: Dialect): NativeAnswer {
  const { status } = response;
  const document = jsonObjectOrError(response.body);
  if (isSuccess(status, dialect)) return hearSuccess(response, document, dialect);
  const bodyCode = document instanceof JsonError ? undefined : codeIn(document, dialect);
  if (isRefusal(status, bodyCode, dialect)) {
    return {
      kind: 'refusal',
      status,
      bodyCode: isCode(bodyCode) ? bodyCode : undefined,
      message: document instanceof JsonError ? undefined : messageIn(document),
    };
  }
  if (status !== REFUSAL) return unclear('http_error', `HTTP status ${status}`);
  const why =
    document instanceof JsonError ? document.answerSummary : 'its body has no integer code';
  return unclear('bad_answer', `HTTP status 400, but ${why}`);
}

/** `emptyOk`, `okCodes`: wallets answer with empty bodies, or put errors into an HTTP 200. */
function hearSuccess(
  response: HttpResponse,
  document: JsonDocument | JsonError,
  dialect: Dialect,
): NativeAnswer {
  if (dialect.emptyOk === true && isBlank(response.body)) {
    return { kind: 'success', document: undefined };
  }
  const { status } = response;
  if (document instanceof JsonError) {
    return unclear('bad_answer', `HTTP status ${status}, but ${document.answerSummary}`);
  }
  if (dialect.okCodes === undefined) return { kind: 'success', document };
  const code = codeIn(document, dialect);
  if (code === undefined || (isCode(code) && dialect.okCodes.includes(code))) {
    return { kind: 'success', document };
  }
  if (isCode(code)) {
    return { kind: 'refusal', status, bodyCode: code, message: messageIn(document) };
  }
  return unclear('bad_answer', `HTTP status ${status}, but its code is no integer`);
}

/** `successStatuses`: wallets answer 201 or 204; never anything but a 2xx. */
function isSuccess(status: number, { successStatuses = SUCCESS }: Dialect): boolean {
  return status >= 200 && status < 300 && successStatuses.includes(status);
}

/** At 400 the body's code makes a refusal; at others `errorStatuses` does, below 500. */
function isRefusal(status: number, bodyCode: unknown, dialect: Dialect): boolean {
  if (status === REFUSAL && isCode(bodyCode)) return true;
  if (status >= SERVER_ERROR) return false;
  const meaning = dialect.errorStatuses?.[String(status)];
  if (meaning !== 'body') return meaning !== undefined;
  return isCode(bodyCode) && (bodyCode !== status || isNamed(bodyCode, dialect));
}

/** A code that repeats the status adds nothing, and proxies send such bodies too. */
function isNamed(code: number, { mapCodes = {}, rollbackConfirmedBy = [] }: Dialect): boolean {
  const isMapped = Object.values(mapCodes).some((codes) => codes?.[String(code)] !== undefined);
  return isMapped || rollbackConfirmedBy.includes(code);
}

/** `errorStatuses`: business errors as 401, 403, 404, 422; undefined if the body's code counts. */
function codeOfStatus(status: number, { errorStatuses }: Dialect): number | undefined {
  const meaning = errorStatuses?.[String(status)];
  return meaning === 'body' ? undefined : meaning;
}

/** `codeField`: `errorCode` or `error` instead of `code`. */
export function codeIn(document: JsonDocument, { codeField = 'code' }: Dialect): unknown {
  return document.has(codeField) ? document.value[codeField] : undefined;
}

/**
 * The protocol's code for a refusal. At 400 and in a success status the body's, by `mapCodes`; at others the one
 * for the status, which bodies there often just repeat.
 */
export function codeOf(refusal: Refusal, operation: Operation, dialect: Dialect): number {
  const { bodyCode } = refusal;
  if (bodyCode === CODES.system) return CODES.system;
  if (isRollbackConfirmed(refusal, operation, dialect)) return CODES.alreadyProcessed;
  const ofStatus = decidingStatus(refusal, dialect);
  if (ofStatus !== undefined) return ofStatus;
  return bodyCode === undefined ? CODES.system : mapped(bodyCode, operation, dialect);
}

/** The protocol's code of the status, if the status decides; undefined if the body's code does. */
function decidingStatus({ status, bodyCode }: Refusal, dialect: Dialect): number | undefined {
  const isByBody = status === REFUSAL && bodyCode !== undefined;
  return isByBody ? undefined : codeOfStatus(status, dialect);
}

/**
 * Whether the wallet may have debited despite its refusal: by its own code, or the one that `errorStatuses` and
 * `mapCodes` produce, also if `mapCodes` would turn a status's code into a listed one (I2).
 */
export function leavesPlaceOpen(refusal: Refusal, dialect: Dialect): boolean {
  const { bodyCode } = refusal;
  const code = codeOf(refusal, 'place', dialect);
  if (code === NO_ERROR && dialect.okCodes?.includes(NO_ERROR) !== false) return true;
  const said = [bodyCode, decidingStatus(refusal, dialect)].filter((one) => one !== undefined);
  const meant = [code, ...said.map((one) => mapped(one, 'place', dialect))];
  return (
    meant.some((one) => OPEN_PLACE_CODES.includes(one)) ||
    [...said, ...meant].some((one) => dialect.unknownCodes?.includes(one) === true)
  );
}

/**
 * Whether a refused rollback would count as confirmed by its status alone, as by a proxy's 404: the code in the
 * body has to say it.
 */
export function isBareConfirmation(
  refusal: Refusal,
  operation: Operation,
  dialect: Dialect,
): boolean {
  if (operation !== 'rollback') return false;
  if (codeOf(refusal, operation, dialect) !== CODES.alreadyProcessed) return false;
  const { bodyCode } = refusal;
  return (
    bodyCode === undefined ||
    (mapped(bodyCode, operation, dialect) !== CODES.alreadyProcessed &&
      !isRollbackConfirmed(refusal, operation, dialect))
  );
}

/**
 * Why a refused rollback is not confirmed although `rollbackConfirmedBy` lists its code; undefined if it does not.
 * @param code the refusal's code for its bet; `dialect` is the complete one
 */
export function whyNotConfirmed(
  { status, bodyCode }: Refusal,
  code: number,
  dialect: Dialect,
): string | undefined {
  const listed = dialect.rollbackConfirmedBy ?? [];
  if (code === CODES.alreadyProcessed || code === CODES.system) return undefined;
  if (bodyCode !== undefined && listed.includes(bodyCode)) {
    return `code ${bodyCode} confirms no rollback of a bet that has had a result`;
  }
  const isByStatus = codeOfStatus(status, dialect) === code && listed.includes(code);
  return isByStatus ? `HTTP status ${status} alone confirms no rollback` : undefined;
}

/** `rollbackConfirmedBy`: a rollback of an unknown or rolled-back bet answered 400/5 or 404. */
function isRollbackConfirmed(
  { bodyCode }: Refusal,
  operation: Operation,
  { rollbackConfirmedBy }: Dialect,
): boolean {
  return (
    operation === 'rollback' &&
    bodyCode !== undefined &&
    rollbackConfirmedBy?.includes(bodyCode) === true
  );
}

function mapped(code: number, operation: Operation, { mapCodes }: Dialect): number {
  return code === CODES.system ? code : (mapCodes?.[operation]?.[String(code)] ?? code);
}

/** The items that callers implement: the adapter sees only one call, they know the bet. */
export function callerDialectOf(dialect: Dialect): CallerDialect {
  return {
    alwaysSendToken: dialect.alwaysSendToken === true,
    stableRequestId: dialect.stableRequestId === true,
    holdUnknownRepeats: dialect.unknownRepeats === 'hold',
    skipUpdates: dialect.updates === 'skip',
  };
}

function messageIn(document: JsonDocument): string | undefined {
  const { message } = document.value;
  if (typeof message !== 'string') return undefined;
  const kept = keptMessage(message);
  return kept === '' ? undefined : kept;
}

function isBlank(body: Buffer): boolean {
  return body.toString('latin1').trim() === '';
}

function unclear(fault: 'http_error' | 'bad_answer', error: string): NativeAnswer {
  return { kind: 'unclear', fault, error };
}
