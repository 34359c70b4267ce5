import type { Operation } from '../domain/operation.ts';
import type { Answer } from '../protocol/answers.ts';
import type { Callback } from '../protocol/messages.ts';
import type { Handled } from './answers.ts';
import type { Callbacks } from './callbacks.ts';

/** A callback's facts for counting and logging. */
export interface CountedCallback {
  readonly arrivedAtMs: number;
  readonly operation: Operation;
  readonly handled: Handled;
  /** Absent if the body could not be read. */
  readonly message?: Callback;
  /** Default: yes; successful profiles and balances are sampled (`logsRead`). */
  readonly isLogged?: boolean;
}

/** Call it once for each callback. @returns its answer */
export function countAndLog(callbacks: Callbacks, result: CountedCallback): Answer {
  const { handled, operation } = result;
  const durationMs = callbacks.clock.monotonicMs() - result.arrivedAtMs;
  const operator = handled.operatorId ?? 'unknown';
  callbacks.metrics.callbacks.inc({ operator, operation, outcome: handled.outcome });
  callbacks.metrics.callbackDuration.observe({ operator, operation }, durationMs / 1000);
  const isGoodRead =
    handled.outcome === 'accepted' && (operation === 'profile' || operation === 'balance');
  if (result.isLogged ?? (!isGoodRead || callbacks.logsRead())) {
    logLine(callbacks, { operator, durationMs }, result);
  }
  return handled.answer;
}

function logLine(
  callbacks: Callbacks,
  { operator, durationMs }: { readonly operator: string; readonly durationMs: number },
  { handled, operation, message }: CountedCallback,
): void {
  callbacks.logger.info(
    {
      operator,
      operation,
      outcome: handled.outcome,
      status: handled.answer.status,
      durationMs: Math.round(durationMs * 10) / 10,
      transactionId: message && transactionIdOf(message),
      requestId: message?.requestId,
      ...handled.detail,
    },
    'callback.handled',
  );
}

/** Undefined for a profile or balance. */
export function transactionIdOf(message: Callback): string | undefined {
  return 'transactionId' in message ? message.transactionId : undefined;
}
