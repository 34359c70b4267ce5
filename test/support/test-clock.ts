import type { Clock } from '../../src/domain/clock.ts';

/** Both clocks of a process, moved by hand. */
export class TestClock implements Clock {
  wallMs = 1_000_000;
  atMs = 1_000;
  nowMs = () => this.wallMs;
  monotonicMs = () => this.atMs;
}
