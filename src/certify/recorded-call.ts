import type { Operation } from '../domain/operation.ts';
import { unreachable } from '../domain/unreachable.ts';
import type { Exchange } from '../outbound/http-call.ts';
import type { Call, Meaning, Reading } from './answer-meaning.ts';

/** What the protocol wants as answer to one call. */
export type Wanted =
  | { readonly kind: 'success' }
  /** Of a rollback: success, or code 8. */
  | { readonly kind: 'confirmation' }
  /** Of a repeated place: success, or a code that leaves the outcome open. */
  | { readonly kind: 'duplicate' }
  /** One of these codes, the most proper one first. */
  | { readonly kind: 'refusal'; readonly codes: readonly number[] }
  /** Nothing is said about it. */
  | { readonly kind: 'anything' };

export interface SightingFacts {
  readonly call: Call;
  readonly exchange: Exchange;
  readonly reading: Reading;
  readonly meaning: Meaning;
  /** From the call until the last byte. */
  readonly ms: number;
  /** Wall-clock time of the call, milliseconds since the epoch. */
  readonly atMs: number;
  /** The request was signed wrongly or oddly on purpose. */
  readonly forged: boolean;
}

/** One call and what came back. Whoever judges it notes what should have come. */
export class Sighting {
  readonly call: Call;
  readonly exchange: Exchange;
  readonly reading: Reading;
  readonly meaning: Meaning;
  readonly ms: number;
  readonly atMs: number;
  readonly forged: boolean;
  wanted: Wanted = { kind: 'anything' };

  constructor(facts: SightingFacts) {
    this.call = facts.call;
    this.exchange = facts.exchange;
    this.reading = facts.reading;
    this.meaning = facts.meaning;
    this.ms = facts.ms;
    this.atMs = facts.atMs;
    this.forged = facts.forged;
  }

  get operation(): Operation {
    return this.call.call.operation;
  }
}

/** Whether the gateway would take the answer for what the protocol wants. */
export function satisfies(reading: Reading, wanted: Wanted): boolean {
  switch (wanted.kind) {
    case 'success':
      return reading.kind === 'accepted';
    case 'confirmation':
      return isConfirmation(reading);
    case 'duplicate':
      return reading.kind === 'accepted' || reading.kind === 'open';
    case 'refusal':
      return (
        (reading.kind === 'declined' || reading.kind === 'open') &&
        (wanted.codes.length === 0 || wanted.codes.includes(reading.code))
      );
    case 'anything':
      return true;
    default:
      return unreachable(wanted);
  }
}

/** A 200, or code 8 to a rollback (docs/protocol.md, Errors). */
function isConfirmation(reading: Reading): boolean {
  return reading.kind === 'accepted' || (reading.kind === 'declined' && reading.code === 8);
}
