import { describe, expect, it } from 'vitest';
import { SendPermit } from '../../../src/operations/attempt.ts';
import { TestClock } from '../../support/test-clock.ts';

describe('a permit to send', () => {
  it('lasts less than 5 s, while the lease of the attempt lasts 15 (I6)', () => {
    const clock = new TestClock();
    const { maySend } = new SendPermit(clock).sending;
    expect(maySend()).toBe(true);
    clock.atMs += 4_999;
    clock.wallMs += 4_999;
    expect(maySend()).toBe(true);
    clock.atMs += 1;
    clock.wallMs += 1;
    expect(maySend()).toBe(false);
  });

  it.each(['atMs', 'wallMs'] as const)(
    'ends when one clock alone has gone on, as of a process or a machine that stood still (%s, I6)',
    (which) => {
      const clock = new TestClock();
      const { maySend } = new SendPermit(clock).sending;
      clock[which] += 5_000;
      expect(maySend()).toBe(false);
    },
  );
});
