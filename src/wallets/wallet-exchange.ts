import type { Clock } from '../domain/clock.ts';
import type { Deadline } from '../domain/deadline.ts';
import { unreachable } from '../domain/unreachable.ts';
import type { BetAnswer, WalletTrace } from '../domain/wallet-answer.ts';
import type { Exchange } from '../outbound/http-call.ts';
import type { HttpClient } from '../outbound/http-client.ts';
import type { HttpRequest, HttpResponse } from '../outbound/http-message.ts';
import type { Heard } from '../outbound/secret-mask.ts';
import type { BetVerdict, Declined, NotUnderstood, ReadVerdict } from './adapters/adapter.ts';
import type { ReadAnswer } from './call.ts';

export type WalletAnswer = BetAnswer | ReadAnswer;

/** The outcomes of a call without an HTTP answer; the same for bets and reads. */
export type Lost = Extract<BetAnswer, { kind: 'notSent' | 'unknown' }>;

/** The differences between calls: the request, and the meaning of its answer. */
export interface Step<A extends WalletAnswer> {
  request(budgetMs: number): HttpRequest;
  answer(response: HttpResponse, trace: WalletTrace): A;
  /**
   * Masks secrets in the answer's message, and adds the evidence that is stored.
   * @param heard undefined if nothing was received
   */
  keep?(answer: A | Lost, request: HttpRequest, heard: Heard | undefined): A | Lost;
  /** Called with an error thrown by `answer`. */
  onBrokenAdapter(error: unknown): void;
}

/**
 * One HTTP exchange with a wallet, and the meaning of its answer.
 * @param traceHeaders W3C trace context to send along
 * @throws whatever `step.request` throws, before anything is sent; nothing after that
 */
export async function askOnce<A extends WalletAnswer>(
  http: HttpClient,
  clock: Clock,
  { deadline, maySend }: { readonly deadline: Deadline; readonly maySend: () => boolean },
  step: Step<A>,
  traceHeaders?: Readonly<Record<string, string>>,
): Promise<A | Lost> {
  const own = step.request(http.budgetMs(deadline));
  const request =
    traceHeaders === undefined ? own : { ...own, headers: { ...own.headers, ...traceHeaders } };
  const startedAtMs = clock.monotonicMs();
  const exchange = await http.exchange(request, deadline, maySend);
  const answer = answerOf(step, exchange, clock.monotonicMs() - startedAtMs);
  return step.keep === undefined ? answer : step.keep(answer, request, heardIn(exchange));
}

function heardIn(exchange: Exchange): Heard | undefined {
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

export function betAnswer(verdict: BetVerdict, trace: WalletTrace): BetAnswer {
  return verdict.kind === 'accepted' ? { ...verdict, trace } : refused(verdict, trace);
}

export function readAnswer(verdict: ReadVerdict, trace: WalletTrace): ReadAnswer {
  return verdict.kind === 'answered' ? { ...verdict, trace } : refused(verdict, trace);
}

function refused(
  verdict: Declined | NotUnderstood,
  trace: WalletTrace,
): Extract<BetAnswer, { kind: 'declined' | 'unknown' }> {
  if (verdict.kind === 'declined') return { ...verdict, trace: { ...trace, code: verdict.code } };
  const { kind, fault, ...details } = verdict;
  return { kind, fault, trace: { ...trace, ...details } };
}
