import type { Clock } from '../domain/clock.ts';

/**
 * An attempt begun longer ago than this is not sent any more: its lease, 15 s on PostgreSQL's
 * clock, has to outlast the call and its commit.
 */
const SEND_WITHIN_MS = 5_000;

/** Checked at the moment a connection takes the request. */
export type Sending = { readonly maySend: () => boolean };

/**
 * Checks the lease again at the moment of sending, by both clocks: after a stopped process the
 * monotonic clock is far ahead, after a paused machine perhaps only the wall clock.
 */
export class SendPermit {
  readonly sending: Sending;

  /** Create it before requesting the lease, because the machine may be paused while waiting for that. */
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
