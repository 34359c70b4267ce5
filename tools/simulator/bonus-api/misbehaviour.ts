import { type Booking, bookingOf, type Misbehaviour } from '../wallet/misbehaviour.ts';

/** Ways in which the bonus API fails: those of a wallet that fit, and two of its own. */
export type BonusMisbehaviour =
  | Extract<
      Misbehaviour,
      { kind: 'hang' | 'reset' | 'status' | 'html' | 'empty' | 'huge' | 'delay' | 'trickle' }
    >
  /** 200 with only the first half of the right answer; it took effect. */
  | { readonly kind: 'brokenJson' }
  /** The right answer with another body: a service that says more than it should, or something else; it took effect. */
  | { readonly kind: 'rewrite'; readonly body: (right: string) => string };

/** Whether a call takes effect under this misbehaviour. */
export function effectOf(misbehaviour: BonusMisbehaviour): Booking {
  const { kind } = misbehaviour;
  return kind === 'brokenJson' || kind === 'rewrite' ? 'applied' : bookingOf(misbehaviour);
}
