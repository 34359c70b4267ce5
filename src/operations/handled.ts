import type { BetAnswer, WalletTrace } from '../domain/wallet-answer.ts';
import type { Answer } from '../protocol/answers.ts';

/** What a callback is counted under (`gateway_callbacks_total`). */
export type CallbackOutcome =
  | 'accepted'
  | 'declined'
  | 'unknown'
  | 'not_sent'
  | 'duplicate'
  | 'conflict'
  | 'taken_over'
  | 'invalid'
  | 'unauthorized'
  | 'error';

/** A callback's answer, with the facts to count and log about it. */
export interface Handled {
  readonly answer: Answer;
  readonly outcome: CallbackOutcome;
  readonly operatorId: string | undefined;
  /** Facts for the log line; never a token, a secret or a personal field. */
  readonly detail?: Readonly<Record<string, string | number | undefined>>;
}

/** The facts for the log line about a callback's wallet call. */
export function detailOf(
  sent: BetAnswer | { readonly kind: 'answered'; readonly trace: WalletTrace },
): NonNullable<Handled['detail']> {
  const { latencyMs, code } = sent.trace;
  return { walletMs: Math.round(latencyMs), code, reason: failureOf(sent) };
}

/** Why the wallet's answer is missing, in one word: where the on-call person starts. */
function failureOf(sent: Parameters<typeof detailOf>[0]): string | undefined {
  if (sent.kind === 'notSent') return sent.reason;
  return sent.kind === 'unknown' ? sent.fault : undefined;
}
