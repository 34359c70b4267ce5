import { randomUUID } from 'node:crypto';
import type { Clock } from '../../domain/clock.ts';
import { CODES } from '../../domain/codes.ts';
import { unreachable } from '../../domain/unreachable.ts';
import { withoutTrailingSlashes } from '../../lib/trailing-slashes.ts';
import type { HttpRequest, HttpResponse } from '../../outbound/http-message.ts';
import { normaliseTransactionTime } from '../../protocol/answers.ts';
import type { JsonDocument } from '../../protocol/json.ts';
import { sign, signingKeys } from '../../protocol/signature.ts';
import type { BetCall, ReadCall } from '../call.ts';
import type { Dialect, WalletSettings } from '../wallet-config.ts';
import type { BetVerdict, Declined, NotUnderstood, ReadVerdict, WalletAdapter } from './adapter.ts';
import {
  callerDialectOf,
  codeIn,
  codeOf,
  isBareConfirmation,
  leavesPlaceOpen,
  nativeAnswer,
  type Refusal,
  whyNotConfirmed,
} from './dialect.ts';

const BET_ANSWER_BYTES_MAX = 64 * 1024;
const READ_ANSWER_BYTES_MAX = 256 * 1024;

/** Ids that are safe in a header; any other would be refused or split the request. */
const SAFE_REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** For a wallet that speaks the service's own protocol, strict but for its dialect. */
export function nativeAdapter(settings: WalletSettings, clock: Clock): WalletAdapter {
  const { dialect } = settings;
  const request = requestBuilder(settings);
  const {
    profile = '/user/profile',
    balance = '/user/balance',
    bet = '/payment/bet',
  } = dialect.paths ?? {};
  const pathOfRead = { profile, balance };
  return {
    callerDialect: callerDialectOf(dialect),
    betRequest: (call, budgetMs) =>
      request(
        { method: call.method, path: bet, answerBytesMax: BET_ANSWER_BYTES_MAX },
        call,
        budgetMs,
      ),
    readRequest: (call, budgetMs) =>
      request(
        {
          method: 'POST',
          path: pathOfRead[call.operation],
          answerBytesMax: READ_ANSWER_BYTES_MAX,
        },
        call,
        budgetMs,
      ),
    betVerdict: (call, response) => betVerdict(call, response, dialect, clock),
    readVerdict: (call, response) => readVerdict(call, response, dialect),
  };
}

type Target = Pick<HttpRequest, 'method' | 'path' | 'answerBytesMax'>;

function requestBuilder({ baseUrl, secrets, dialect }: WalletSettings) {
  const [key] = signingKeys(secrets);
  if (key === undefined) throw new Error('a wallet needs a secret to sign with');
  const basePath = withoutTrailingSlashes(new URL(baseUrl).pathname);
  const fixedHeaders = {
    accept: 'application/json',
    'content-type': 'application/json',
    'user-agent': 'wagergate',
    ...lowerCased(dialect.headers ?? {}),
    // A compressed answer would not be understood, so no dialect may ask for one.
    'accept-encoding': 'identity',
  };
  return (
    target: Target,
    call: { readonly body: string; readonly requestId: string },
    budgetMs: number,
  ): HttpRequest => {
    const body = Buffer.from(call.body, 'utf8');
    const jws = sign(body, key);
    return {
      ...target,
      path: basePath + target.path,
      body,
      headers: {
        ...fixedHeaders,
        'x-sign-jws': jws,
        // The older header; wallets that still look for it only ask that it is there.
        ...(dialect.legacySign === true ? { 'x-sign': jws } : {}),
        'x-request-id': SAFE_REQUEST_ID.test(call.requestId) ? call.requestId : randomUUID(),
        'x-deadline-ms': String(Math.floor(budgetMs)),
      },
    };
  };
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

function betVerdict(
  call: BetCall,
  response: HttpResponse,
  dialect: Dialect,
  clock: Clock,
): BetVerdict {
  const said = nativeAnswer(response, dialect);
  switch (said.kind) {
    case 'unclear':
      return { kind: 'unknown', fault: said.fault, error: said.error };
    case 'refusal':
      return refusedBet(call, said, dialect);
    case 'success': {
      const contradiction = said.document && whyNotAccepted(call, said.document, dialect);
      if (contradiction !== undefined) return contradiction;
      const transactionTime: unknown = said.document?.value.transactionTime;
      return {
        kind: 'accepted',
        transactionTime: normaliseTransactionTime(transactionTime, clock.nowMs()),
      };
    }
    default:
      return unreachable(said);
  }
}

/** "Nothing to roll back" confirms a rollback only without an accepted result, whose payout it would hide. */
function dialectFor({ hadResult }: BetCall, dialect: Dialect): Dialect {
  return hadResult === true ? { ...dialect, rollbackConfirmedBy: undefined } : dialect;
}

/** `echo: ignore`: wallets echo no `transactionId`, or one of their own making. */
function whyNotAccepted(
  { transactionId }: BetCall,
  document: Parameters<typeof codeIn>[0],
  dialect: Dialect,
): NotUnderstood | undefined {
  if (dialect.echo !== 'ignore' && document.value.transactionId !== transactionId) {
    if (document.has('transactionId')) {
      return ofOtherCall('the answer is for another transactionId');
    }
    const error = 'the answer has no transactionId';
    // A profile's or a balance's, then.
    return document.has('userId') ? ofOtherCall(error) : brokenAnswer(error);
  }
  // Some wallets answer errors with 200. Treated as unknown it costs a bet, as accepted it would cost money.
  const code = codeIn(document, dialect);
  const isError = dialect.okCodes === undefined && namesError(code);
  return isError
    ? brokenAnswer(`a success status with the error code ${String(code).slice(0, 20)}`)
    : undefined;
}

/** Whether the code is a number other than 0, possibly as text; words or a missing code are no error. */
function namesError(code: unknown): boolean {
  const number = typeof code === 'string' ? Number(code) : code;
  return typeof number === 'number' && !Number.isNaN(number) && number !== 0;
}

function refusedBet(call: BetCall, refusal: Refusal, dialect: Dialect): Declined | NotUnderstood {
  const { operation } = call;
  const asked = dialectFor(call, dialect);
  const code = codeOf(refusal, operation, asked);
  if (operation === 'place' && leavesPlaceOpen(refusal, dialect)) {
    const named = dialect.unknownCodes?.includes(code) === true ? code : refusal.bodyCode;
    const error = `code ${named ?? code} leaves open whether the bet was debited`;
    return { kind: 'unknown', fault: 'bad_answer', error, code };
  }
  if (isBareConfirmation(refusal, operation, asked)) {
    const error = `HTTP status ${refusal.status} alone confirms no rollback`;
    return { kind: 'unknown', fault: 'http_error', error };
  }
  const why = operation === 'rollback' ? whyNotConfirmed(refusal, code, dialect) : undefined;
  return declined(code, why === undefined ? refusal : { ...refusal, message: why });
}

function readVerdict(call: ReadCall, response: HttpResponse, dialect: Dialect): ReadVerdict {
  const said = nativeAnswer(response, dialect);
  switch (said.kind) {
    case 'unclear':
      return { kind: 'unknown', fault: said.fault, error: said.error };
    case 'refusal':
      return declined(codeOf(said, call.operation, dialect), said);
    case 'success': {
      const { document } = said;
      const missing = missingIn(document?.value ?? {}, call.operation);
      if (document !== undefined && missing === undefined) return { kind: 'answered', document };
      const error = `the answer has no proper ${missing}`;
      const isOfOther = document !== undefined && isOfOtherRead(document, call.operation);
      return isOfOther ? ofOtherCall(error) : brokenAnswer(error);
    }
    default:
      return unreachable(said);
  }
}

/** Whether an answer without the required members is plainly one to a bet, or a profile for a balance. */
function isOfOtherRead(document: JsonDocument, operation: ReadCall['operation']): boolean {
  if (document.has('transactionId')) return true;
  return operation === 'balance' && document.has('currencies');
}

/** The first missing member that the service requires (service protocol, User profile). */
function missingIn(
  value: Readonly<Record<string, unknown>>,
  operation: ReadCall['operation'],
): string | undefined {
  if (operation === 'balance') return Number.isFinite(value.amount) ? undefined : 'amount';
  if (typeof value.userId !== 'string') return 'userId';
  return typeof value.currency === 'string' ? undefined : 'currency';
}

function declined(code: number, { message }: Refusal): Declined {
  const standard =
    code === CODES.alreadyProcessed
      ? 'The bet has already been processed'
      : 'Refused by the operator';
  return { kind: 'declined', code, message: message ?? standard };
}

function brokenAnswer(error: string): NotUnderstood {
  return { kind: 'unknown', fault: 'bad_answer', error };
}

function ofOtherCall(error: string): NotUnderstood {
  return { ...brokenAnswer(error), isOfOtherCall: true };
}
