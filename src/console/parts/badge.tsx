import { type Tone, toneOf, wordsOf } from './tone.ts';

/** A state in words and colour. */
export function Badge({ state, tone }: { readonly state: string; readonly tone?: Tone }) {
  return <span className={`badge ${tone ?? toneOf(state)}`}>{wordsOf(state)}</span>;
}
