/**
 * What a failed case means for betting through the gateway, the worst first.
 * `absorbed`: the gateway never makes such a call, or copes with the answer.
 */
export const FAILURE_MEANINGS = [
  'costs_money',
  'costs_money_when_an_answer_is_lost',
  'lets_somebody_in',
  'absorbed',
  'cosmetic',
] as const;

export type FailureMeaning = (typeof FAILURE_MEANINGS)[number];

export const MEANING_WORDS: Readonly<Record<FailureMeaning, string>> = {
  costs_money: 'costs money',
  costs_money_when_an_answer_is_lost: 'costs money when an answer is lost',
  lets_somebody_in: 'lets somebody in',
  absorbed: 'the gateway absorbs it',
  cosmetic: 'cosmetic',
};

/** Whether a wallet with such a failure must not go live. */
export function isBlocking(meaning: FailureMeaning): boolean {
  return meaning !== 'absorbed' && meaning !== 'cosmetic';
}

/** For sorting, the worst first. */
export function bySeverity(a: FailureMeaning, b: FailureMeaning): number {
  return FAILURE_MEANINGS.indexOf(a) - FAILURE_MEANINGS.indexOf(b);
}

/** @returns undefined where there is none */
export function worstOf(meanings: readonly FailureMeaning[]): FailureMeaning | undefined {
  return [...meanings].sort(bySeverity)[0];
}
