import type { Operation } from '../../domain/operation.ts';
import { unreachable } from '../../domain/unreachable.ts';
import type { Exchange } from '../../outbound/http-call.ts';
import type { HttpRequest } from '../../outbound/http-message.ts';
import type { AnswerMeaning, Call, Reading } from './answer-meaning.ts';
import type { SignedAs } from './forged-requests.ts';

/** The answer that the protocol requires for one call. */
export type Wanted =
  | { readonly kind: 'success' }
  /** For a rollback: success, or code 8. */
  | { readonly kind: 'confirmation' }
  /** For a repeated place: success, or a code that leaves the outcome open. */
  | { readonly kind: 'duplicate' }
  /** One of these codes, the most proper one first. */
  | { readonly kind: 'refusal'; readonly codes: readonly number[] }
  /** The protocol says nothing about it. */
  | { readonly kind: 'anything' };

/** One call and its answer. A case that judges it notes what the answer should have been. */
export interface RecordedCall {
  readonly call: Call;
  readonly operation: Operation;
  /** The request as it was sent. */
  readonly request: HttpRequest;
  readonly signedAs: SignedAs;
  /** The request was signed wrongly or oddly on purpose. */
  readonly forged: boolean;
  readonly exchange: Exchange;
  readonly reading: Reading;
  /** The answer's reading by the protocol alone, whatever dialect is being tried. */
  readonly readingByProtocol: Reading;
  readonly answer: AnswerMeaning;
  /** From the call until the last byte. */
  readonly ms: number;
  /** Wall-clock time of the call, milliseconds since the epoch. */
  readonly atMs: number;
  wanted: Wanted;
}

/** Whether the gateway reads the answer as the one that the protocol requires. */
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

/** A 200, or code 8 to a rollback (service protocol, Errors). */
function isConfirmation(reading: Reading): boolean {
  return reading.kind === 'accepted' || (reading.kind === 'declined' && reading.code === 8);
}
