import { beforeEach, expect, it } from 'vitest';
import type { Clock } from '../../src/domain/clock.ts';
import { Deadline, WALLET_BUDGET_MS_MIN } from '../../src/domain/deadline.ts';

const ARRIVED_AT_MS = 7_000;
const TOTAL_MS = 4_800;
const RESERVE_MS = 300;

/** A monotonic clock that stands still until it is moved; its wall clock may show anything. */
class HandClock implements Clock {
  readonly #wallMs: number;
  #ms = ARRIVED_AT_MS;

  constructor(wallMs: number) {
    this.#wallMs = wallMs;
  }

  nowMs = (): number => this.#wallMs;
  monotonicMs = (): number => this.#ms;

  pass(ms: number): void {
    this.#ms += ms;
  }
}

let clock: HandClock;
let deadline: Deadline;
beforeEach(() => {
  clock = new HandClock(0);
  deadline = new Deadline(clock, ARRIVED_AT_MS, TOTAL_MS, RESERVE_MS);
});

it('is one budget: what anybody spends is gone for everybody after (I1)', () => {
  expect(deadline.remainingMs()).toBe(4_800);
  clock.pass(1_000);
  expect(deadline.remainingMs()).toBe(3_800);
  clock.pass(3_000);
  expect(deadline.remainingMs()).toBe(800);
});

it('counts from the arrival, not from when somebody looked at the request (I1)', () => {
  clock.pass(500);
  const late = new Deadline(clock, ARRIVED_AT_MS, TOTAL_MS, RESERVE_MS);
  expect(late.remainingMs()).toBe(4_300);
});

it('keeps its reserve back from the wallet, so that the outcome can be written (I1, I3)', () => {
  expect(deadline.walletMs()).toBe(4_500);
  clock.pass(4_500);
  expect(deadline.walletMs()).toBe(0);
  expect(deadline.remainingMs()).toBe(300);
});

it('keeps a little back from the gateway too, so that the answer is on the wire in time (I1)', () => {
  expect(deadline.answerMs()).toBeLessThan(deadline.remainingMs());
  expect(deadline.answerMs()).toBeGreaterThan(deadline.walletMs());
});

it('allows no wallet call that could hardly be answered any more', () => {
  clock.pass(TOTAL_MS - RESERVE_MS - WALLET_BUDGET_MS_MIN);
  expect(deadline.allowsWalletCall()).toBe(true);
  clock.pass(1);
  expect(deadline.allowsWalletCall()).toBe(false);
});

it('ends at nothing, never below it', () => {
  clock.pass(60_000);
  expect([deadline.remainingMs(), deadline.answerMs(), deadline.walletMs()]).toEqual([0, 0, 0]);
  expect(deadline.allowsWalletCall()).toBe(false);
});

it('keeps less back from the safe answer than from the own one', () => {
  expect(deadline.lastMs()).toBeLessThan(deadline.remainingMs());
  expect(deadline.lastMs()).toBeGreaterThan(deadline.answerMs());
  clock.pass(TOTAL_MS);
  expect(deadline.lastMs()).toBe(0);
});

it('is over for everybody once its answer has left, however early that was (I11)', () => {
  expect(deadline.hasEnded).toBe(false);
  clock.pass(60_000);
  expect(deadline.hasEnded).toBe(false);
  const early = new Deadline(clock, clock.monotonicMs(), TOTAL_MS, RESERVE_MS);
  early.end();
  expect(early.hasEnded).toBe(true);
  expect([early.remainingMs(), early.answerMs(), early.lastMs(), early.walletMs()]).toEqual([
    0, 0, 0, 0,
  ]);
  expect(early.allowsWalletCall()).toBe(false);
});

it('does not care what the wall clock says', () => {
  const skewed = new HandClock(Number.MAX_SAFE_INTEGER);
  const same = new Deadline(skewed, ARRIVED_AT_MS, TOTAL_MS, RESERVE_MS);
  expect(same.remainingMs()).toBe(deadline.remainingMs());
});
