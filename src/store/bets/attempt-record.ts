import { unreachable } from '../../domain/unreachable.ts';
import type {
  BetAnswer,
  NotSentReason,
  WalletFault,
  WalletTrace,
} from '../../domain/wallet-answer.ts';
import type { Answer } from '../../protocol/answers.ts';
import { type Parameters, parametersWithin } from '../sql/statement.ts';
import { storable } from '../sql/storable-text.ts';

/** One attempt at a wallet call, for the journal. */
export interface AttemptRecord {
  /** When the call was handed over, in epoch milliseconds. */
  readonly startedAtMs: number;
  readonly result: 'accepted' | 'declined' | WalletFault | NotSentReason;
  readonly trace: WalletTrace;
  /** In words for people; undefined for a success. */
  readonly error: string | undefined;
  /** The answer that the service got because of this attempt, if any. */
  readonly answer: Answer | undefined;
}

/** The attempt record of a wallet's answer. */
export function attemptOf(
  sent: BetAnswer,
  startedAtMs: number,
  answer: Answer | undefined,
): AttemptRecord {
  const { trace } = sent;
  return { startedAtMs, result: resultOf(sent), trace, error: errorOf(sent), answer };
}

function resultOf(sent: BetAnswer): AttemptRecord['result'] {
  switch (sent.kind) {
    case 'accepted':
    case 'declined':
      return sent.kind;
    case 'notSent':
      return sent.reason;
    case 'unknown':
      return sent.fault;
    default:
      return unreachable(sent);
  }
}

/** `400 code 5: cannot do that`, `no answer within 3996 ms`; undefined for a success. */
function errorOf(sent: BetAnswer): string | undefined {
  switch (sent.kind) {
    case 'accepted':
      return undefined;
    case 'declined':
      return `${sent.trace.status ?? 400} code ${sent.code}: ${sent.message}`;
    case 'notSent':
      return sent.trace.error ?? `not sent: ${sent.reason}`;
    case 'unknown':
      return sent.trace.error ?? sent.fault;
    default:
      return unreachable(sent);
  }
}

const ATTEMPT_PARAMETERS = {
  started_at: ['timestamptz', ({ startedAtMs }) => new Date(startedAtMs)],
  latency_ms: ['int', ({ trace }) => Math.round(trace.latencyMs)],
  result: ['text', ({ result }) => result],
  status: ['int', ({ trace }) => trace.status ?? null],
  code: ['int', ({ trace }) => trace.code ?? null],
  sent: ['bool', ({ trace }) => trace.sent],
  error: ['text', ({ error }) => (error === undefined ? null : storable(error))],
  wallet_type: ['text', ({ trace }) => storableOrNull(trace.evidence?.contentType)],
  wallet_body: ['bytea', ({ trace }) => trace.evidence?.body ?? null],
  wallet_truncated: ['bool', ({ trace }) => trace.evidence?.truncated === true],
  answer_status: ['int', ({ answer }) => answer?.status ?? null],
  answer_body: ['text', ({ answer }) => answer?.body ?? null],
} satisfies Parameters<AttemptRecord>;

const storableOrNull = (text: string | undefined) => (text === undefined ? null : storable(text));

export const ATTEMPT_COLUMNS = Object.keys(ATTEMPT_PARAMETERS);

export function attemptParameters<Input>(of: (input: Input) => AttemptRecord): Parameters<Input> {
  return parametersWithin<AttemptRecord, Input>(ATTEMPT_PARAMETERS, of);
}
