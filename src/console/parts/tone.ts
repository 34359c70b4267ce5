/** What a state means, for its colour; a word always says the same. */
export type Tone = 'good' | 'bad' | 'warn' | 'info' | 'quiet';

const TONES: Readonly<Record<string, Tone>> = {
  accepted: 'good',
  active: 'good',
  closed: 'good',
  delivered: 'good',
  resolved: 'good',
  settled: 'good',
  ok: 'good',
  dead: 'bad',
  open: 'bad',
  suspended: 'bad',
  unknown: 'bad',
  settlement_unknown: 'bad',
  invalid: 'bad',
  half_open: 'warn',
  held: 'warn',
  maintenance: 'warn',
  rolling_back: 'warn',
  pending: 'info',
  in_flight: 'info',
};

/** The tone of a state; `quiet` if it is nothing to worry about. */
export function toneOf(state: string): Tone {
  return TONES[state] ?? 'quiet';
}

/** `settlement_unknown` in words. */
export function wordsOf(state: string): string {
  return state.replaceAll('_', ' ');
}
