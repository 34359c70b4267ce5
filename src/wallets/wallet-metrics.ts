import { CODES } from '../domain/codes.ts';
import type { CallClass, Operation } from '../domain/operation.ts';
import { unreachable } from '../domain/unreachable.ts';
import type { WalletFault } from '../domain/wallet-answer.ts';
import type { BreakerState } from '../outbound/breaker.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { isProperRefusal } from './health.ts';
import type { WalletAnswer } from './wallet-exchange.ts';

const STATE_NUMBERS: Readonly<Record<BreakerState, number>> = { closed: 0, half_open: 1, open: 2 };

/** One operator's share of the metrics of wallet calls (docs/reference.md, Metrics). */
export class WalletMetrics {
  readonly #metrics: Metrics;
  readonly #operator: string;

  constructor(metrics: Metrics, operatorId: string) {
    this.#metrics = metrics;
    this.#operator = operatorId;
  }

  /** Counts a call either as made (including refused connections) or as rejected by the gateway. */
  answered(operation: Operation, answer: WalletAnswer): void {
    const operator = this.#operator;
    if (answer.kind === 'notSent' && answer.reason !== 'connection') {
      this.#metrics.rejected.inc({ operator, reason: answer.reason });
      return;
    }
    this.#metrics.walletRequests.inc({ operator, operation, result: resultOf(answer) });
    if (answer.kind === 'declined') {
      this.#metrics.walletDeclines.inc({ operator, code: codeText(answer.code) });
    }
    if (!answer.trace.sent) return;
    this.#metrics.walletRequestDuration.observe(
      { operator, operation },
      answer.trace.latencyMs / 1000,
    );
  }

  breakerState(callClass: CallClass, state: BreakerState): void {
    const labels = { operator: this.#operator, class: callClass };
    this.#metrics.breakerState.set(labels, STATE_NUMBERS[state]);
  }

  inFlight(callClass: CallClass, count: number): void {
    this.#metrics.inFlight.set({ operator: this.#operator, class: callClass }, count);
  }

  /** Removes the gauges of a removed operator, which would show their last values for ever. */
  remove(callClass: CallClass): void {
    const labels = { operator: this.#operator, class: callClass };
    this.#metrics.breakerState.remove(labels);
    this.#metrics.inFlight.remove(labels);
  }
}

const KNOWN_CODES: ReadonlySet<number> = new Set(Object.values(CODES));

/** Wallets may invent codes, but the label's values must stay bounded. */
function codeText(code: number): string {
  return KNOWN_CODES.has(code) ? `${code}` : 'other';
}

function resultOf(answer: WalletAnswer): 'accepted' | 'declined' | WalletFault {
  switch (answer.kind) {
    case 'accepted':
    case 'answered':
      return 'accepted';
    case 'declined':
      return 'declined';
    case 'notSent':
      return 'connection';
    case 'unknown':
      return isProperRefusal(answer) ? 'declined' : answer.fault;
    default:
      return unreachable(answer);
  }
}
