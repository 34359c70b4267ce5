import type { Clock } from '../domain/clock.ts';
import { isCode, OPEN_PLACE_CODES } from '../domain/codes.ts';
import type { Deadline } from '../domain/deadline.ts';
import type { BetOperation } from '../domain/operation.ts';
import { unreachable } from '../domain/unreachable.ts';
import type { BetAnswer, WalletTrace } from '../domain/wallet-answer.ts';
import type { Exchange } from '../outbound/http-call.ts';
import type { HttpClient } from '../outbound/http-client.ts';
import type { HttpRequest, HttpResponse } from '../outbound/http-message.ts';
import type { ReceivedBody } from '../outbound/secret-mask.ts';
import { normaliseTransactionTime } from '../protocol/answers.ts';
import {
  type BetVerdict,
  type Declined,
  keptMessage,
  type NotUnderstood,
  type ReadVerdict,
} from './adapters/adapter.ts';
import type { ReadAnswer, ReadCall } from './call.ts';

export type WalletAnswer = BetAnswer | ReadAnswer;

/** The outcomes of a call without an HTTP answer; the same for bets and reads. */
export type Lost = Extract<BetAnswer, { kind: 'notSent' | 'unknown' }>;

/** The differences between calls: the request, and the meaning of its answer. */
export interface Step<A extends WalletAnswer> {
  request(budgetMs: number): HttpRequest;
  answer(response: HttpResponse, trace: WalletTrace): A;
  /** Masks secrets in the message, and adds the evidence. @param received undefined if nothing came */
  keep?(answer: A | Lost, request: HttpRequest, received: ReceivedBody | undefined): A | Lost;
  /** Called with an error thrown by `request` or `answer`. */
  onBrokenAdapter(error: unknown): void;
}

/**
 * One HTTP exchange with a wallet, and the meaning of its answer; never rejects.
 * @param traceHeaders W3C trace context to send along
 */
export async function callOnce<A extends WalletAnswer>(
  http: HttpClient,
  clock: Clock,
  { deadline, maySend }: { readonly deadline: Deadline; readonly maySend: () => boolean },
  step: Step<A>,
  traceHeaders?: Readonly<Record<string, string>>,
): Promise<A | Lost> {
  const own = requestOf(step, http.budgetMs(deadline));
  if (own === undefined) return NO_REQUEST;
  const request =
    traceHeaders === undefined ? own : { ...own, headers: { ...own.headers, ...traceHeaders } };
  const startedAtMs = clock.monotonicMs();
  const exchange = await http.exchange(request, deadline, maySend);
  const answer = answerOf(step, exchange, clock.monotonicMs() - startedAtMs);
  if (answer.trace.isOfOtherCall === true) http.distrustConnections(exchange);
  return step.keep === undefined ? answer : step.keep(answer, request, receivedBody(exchange));
}

/** Certainly not sent, and the wallet is not to blame. */
const NO_REQUEST: Lost = {
  kind: 'notSent',
  reason: 'connection',
  trace: {
    sent: false,
    latencyMs: 0,
    error: 'the adapter could not make the request',
    isOwnShortage: true,
  },
};

function requestOf<A extends WalletAnswer>(
  step: Step<A>,
  budgetMs: number,
): HttpRequest | undefined {
  try {
    return step.request(budgetMs);
  } catch (error) {
    step.onBrokenAdapter(error);
    return undefined;
  }
}

function receivedBody(exchange: Exchange): ReceivedBody | undefined {
  switch (exchange.kind) {
    case 'notSent':
      return undefined;
    case 'failed': {
      const { partial } = exchange;
      return partial && { contentType: partial.contentType, body: partial.body, isComplete: false };
    }
    case 'response':
      return { contentType: exchange.contentType, body: exchange.body, isComplete: true };
    default:
      return unreachable(exchange);
  }
}

function answerOf<A extends WalletAnswer>(
  step: Step<A>,
  exchange: Exchange,
  latencyMs: number,
): A | Lost {
  switch (exchange.kind) {
    case 'notSent': {
      const { kind, reason, ...details } = exchange;
      return { kind, reason, trace: { sent: false, latencyMs, ...details } };
    }
    case 'failed': {
      const { kind: _, partial: __, fault, ...details } = exchange;
      return { kind: 'unknown', fault, trace: { sent: true, latencyMs, ...details } };
    }
    case 'response':
      return understood(step, exchange, { sent: true, latencyMs, status: exchange.status });
    default:
      return unreachable(exchange);
  }
}

function understood<A extends WalletAnswer>(
  step: Step<A>,
  response: HttpResponse,
  trace: WalletTrace,
): A | Lost {
  try {
    return step.answer(response, trace);
  } catch (error) {
    // The wallet has answered and may have debited: a bug of the adapter must not count as "not done".
    step.onBrokenAdapter(error);
    const words = `the adapter failed: ${error}`;
    return { kind: 'unknown', fault: 'bad_answer', trace: { ...trace, error: words } };
  }
}

/** @throws TypeError for what is no verdict */
export function betAnswer(
  operation: BetOperation,
  verdict: BetVerdict,
  answeredAtMs: number,
  trace: WalletTrace,
): BetAnswer {
  if (verdict.kind === 'accepted') {
    const transactionTime = normaliseTransactionTime(verdict.transactionTime, answeredAtMs);
    return { kind: 'accepted', transactionTime, trace };
  }
  return refused(operation === 'place' ? withoutOpenDecline(verdict) : verdict, trace);
}

/** Whatever an adapter makes of it: after such a code of a place nobody knows whether the wallet has debited (I2). */
function withoutOpenDecline(verdict: Declined | NotUnderstood): Declined | NotUnderstood {
  const { kind, code } = verdict;
  if (kind !== 'declined' || !OPEN_PLACE_CODES.includes(code)) return verdict;
  const error = `code ${code} leaves open whether the bet was debited`;
  return { kind: 'unknown', fault: 'bad_answer', error, code };
}

/** @throws TypeError for what is no verdict */
export function readAnswer(
  { whyBroken }: Pick<ReadCall, 'whyBroken'>,
  verdict: ReadVerdict,
  trace: WalletTrace,
): ReadAnswer {
  if (verdict.kind !== 'answered') return refused(verdict, trace);
  const error = whyBroken?.(verdict.document);
  if (error === undefined) return { ...verdict, trace };
  return { kind: 'unknown', fault: 'bad_answer', trace: { ...trace, error } };
}

function refused(
  verdict: Declined | NotUnderstood,
  trace: WalletTrace,
): Extract<BetAnswer, { kind: 'declined' | 'unknown' }> {
  // An adapter may break its types; an answer that is no verdict could not be recorded.
  if (!isRefusal(verdict)) throw new TypeError('it gave no verdict');
  if (verdict.kind === 'declined') {
    const { code, message } = verdict;
    return { kind: 'declined', code, message: keptMessage(message), trace: { ...trace, code } };
  }
  const { kind, fault, ...details } = verdict;
  return { kind, fault, trace: { ...trace, ...details } };
}

const FAULTS: ReadonlySet<unknown> = new Set<NotUnderstood['fault']>(['http_error', 'bad_answer']);

function isRefusal(verdict: Declined | NotUnderstood): boolean {
  switch (verdict.kind) {
    case 'declined':
      return isCode(verdict.code) && typeof verdict.message === 'string';
    case 'unknown':
      return FAULTS.has(verdict.fault) && (verdict.code === undefined || isCode(verdict.code));
    default:
      return false;
  }
}
