import type { Clock } from '../domain/clock.ts';

/**
 * An attempt that was begun longer ago than this is not sent any more: its lease, 15 s on
 * PostgreSQL's clock, has to outlast the call and its commit.
 */
const SEND_WITHIN_MS = 5_000;

/** Asked in the very moment a connection takes the request. */
export type Sending = { readonly maySend: () => boolean };

/**
 * The lease, looked at again in the moment of sending. Both clocks count: a stopped process finds
 * the monotonic one far ahead, a paused machine perhaps only the one on the wall.
 */
export class SendPermit {
  readonly sending: Sending;

  constructor(clock: Clock, begunAtMs: number = clock.monotonicMs()) {
    const agoMs = clock.monotonicMs() - begunAtMs;
    const wallAtMs = clock.nowMs() - agoMs;
    this.sending = {
      maySend: () =>
        clock.monotonicMs() - begunAtMs < SEND_WITHIN_MS &&
        clock.nowMs() - wallAtMs < SEND_WITHIN_MS,
    };
  }
}
