import type { NotSentReason, WalletFault, WalletTrace } from '../../domain/wallet-answer.ts';
import type { Answer } from '../../protocol/answers.ts';
import { storable } from '../storable-text.ts';

/** One try at a wallet, as the journal keeps it. */
export interface AttemptRecord {
  /** When the call was handed over, in epoch milliseconds. */
  readonly startedAtMs: number;
  readonly result: 'accepted' | 'declined' | WalletFault | NotSentReason;
  readonly trace: WalletTrace;
  /** What the service was told because of this attempt, where it was told anything. */
  readonly answer: Answer | undefined;
}

/** The columns of `attempts` that an attempt's record fills, in the order of `attemptValues`. */
export const ATTEMPT_COLUMNS = [
  'started_at',
  'latency_ms',
  'result',
  'status',
  'code',
  'error',
  'answer_status',
  'answer_body',
] as const;

/** The values of `ATTEMPT_COLUMNS`, in that order. */
export function attemptValues(attempt: AttemptRecord): readonly (string | number | Date | null)[] {
  const { trace, answer } = attempt;
  return [
    new Date(attempt.startedAtMs),
    Math.round(trace.latencyMs),
    attempt.result,
    trace.status ?? null,
    trace.code ?? null,
    trace.error === undefined ? null : storable(trace.error),
    answer?.status ?? null,
    answer?.body ?? null,
  ];
}
