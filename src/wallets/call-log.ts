import type { Operation } from '../domain/operation.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { BetCall, ReadCall } from './call.ts';
import type { WalletAnswer } from './wallet-exchange.ts';

/** Makes a call within a span of its own. */
export function tracedCall<A extends WalletAnswer>(
  tracing: Tracing,
  facts: { readonly operator: string; readonly operation: Operation },
  call: () => Promise<A>,
): Promise<A> {
  if (!tracing.isOn) return call();
  return tracing.span(
    { name: `wallet ${facts.operation}`, kind: 'client', facts },
    async (span) => {
      const answer = await call();
      const { status, code } = answer.trace;
      span.set({ result: answer.kind, status, code });
      if (answer.kind === 'unknown') span.fail(answer.fault);
      else if (answer.kind === 'notSent') span.fail(answer.reason);
      return answer;
    },
  );
}

/** One line per call, to compare with the wallet's own log; `requestId` is in its header. */
export function logCall(
  logger: Logger,
  operator: string,
  call: BetCall | ReadCall,
  answer: WalletAnswer,
): void {
  if (!logger.isLevelEnabled('debug')) return;
  const { status, code, error, latencyMs } = answer.trace;
  const { operation, requestId } = call;
  const transactionId = 'transactionId' in call ? call.transactionId : undefined;
  logger.debug(
    {
      operator,
      operation,
      transactionId,
      requestId,
      result: answer.kind,
      status,
      code,
      error,
      latencyMs: Math.round(latencyMs),
    },
    'wallet.called',
  );
}
