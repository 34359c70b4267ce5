import type { Clock } from '../domain/clock.ts';

/**
 * An attempt that was begun longer ago than this is not sent any more: its lease, 15 s on
 * PostgreSQL's clock, has to outlast the call and its commit.
 */
const SEND_WITHIN_MS = 5_000;

/** Asked at the moment a connection takes the request. */
export type Sending = { readonly maySend: () => boolean };

/**
 * The lease, checked again at the moment of sending. Both clocks count: a stopped process finds
 * the monotonic clock far ahead, a paused machine perhaps only the wall clock.
 */
export class SendPermit {
  readonly sending: Sending;

  /** To be made before the lease is asked for: a machine may be paused while it waits for that. */
  constructor(clock: Clock) {
    const begunAtMs = clock.monotonicMs();
    const wallAtMs = clock.nowMs();
    this.sending = {
      maySend: () =>
        clock.monotonicMs() - begunAtMs < SEND_WITHIN_MS &&
        clock.nowMs() - wallAtMs < SEND_WITHIN_MS,
    };
  }
}
