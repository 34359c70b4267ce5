import { describe, expect, it, vi } from 'vitest';
import type { NotSentReason } from '../../../src/domain/wallet-answer.ts';
import { RefusedReads } from '../../../src/operations/refused-reads.ts';
import type { Metrics } from '../../../src/telemetry/metrics.ts';
import type { Wallets } from '../../../src/wallets/wallets.ts';
import { partly } from '../../support/partly.ts';
import { TestClock } from '../../support/test-clock.ts';

/** Floods of refusals on the test's own clock; other files test them over HTTP. */

const LIMITED = {
  answer: { status: 503, body: '{"code":100,"message":"System error"}' },
  ...{ outcome: 'not_sent', operatorId: 'alpha', detail: { reason: 'rate' } },
};

/** Alpha's and beta's wallets accept no calls, delta's does, gamma's file is gone. */
function floodOf() {
  const clock = new TestClock();
  const inc = vi.fn();
  const refusals = new Map<string, NotSentReason | undefined>([
    ['alpha balance', 'breaker'],
    ['alpha profile', 'breaker'],
    ['beta balance', 'suspended'],
  ]);
  const reads = new RefusedReads({
    clock,
    metrics: partly<Metrics>({ rejected: { inc } }),
    wallets: partly<Wallets>({
      get: (id: string) =>
        ['alpha', 'beta', 'delta'].includes(id)
          ? { refusal: (operation: string) => refusals.get(`${id} ${operation}`) }
          : undefined,
    }),
  });
  /** How many of this many balances are handled as usual. */
  const through = (token: string, count: number) => {
    const answers = Array.from({ length: count }, () => reads.limit('balance', token));
    return answers.filter((answer) => answer === undefined).length;
  };
  return { clock, inc, refusals, reads, through };
}

describe('reads of an operator that takes no calls', () => {
  it('take their usual way 200 times at once, then 100 times a second (I7)', () => {
    const { reads, clock, through } = floodOf();
    reads.note('balance', 'token', 'alpha');
    expect(through('token', 300)).toBe(200);
    clock.atMs += 50;
    expect(through('token', 300)).toBe(5);
    clock.atMs += 60_000;
    expect(through('token', 300)).toBe(200);
  });

  it('are refused past that with 503, and counted', () => {
    const { reads, inc, through } = floodOf();
    reads.note('balance', 'token', 'alpha');
    through('token', 200);
    expect(inc).not.toHaveBeenCalled();
    expect(reads.limit('balance', 'token')).toEqual(LIMITED);
    expect(inc.mock.calls).toEqual([[{ operator: 'alpha', reason: 'rate' }]]);
  });
});

describe('a read is never limited', () => {
  it('by a token whose owner is unknown', () => {
    const { reads, through } = floodOf();
    reads.note('balance', 'token', 'alpha');
    through('token', 300);
    expect(through('another', 300)).toBe(300);
  });

  it('where its operator took calls when it was noted', () => {
    const { reads, refusals, through } = floodOf();
    reads.note('balance', 'token', 'delta');
    refusals.set('delta balance', 'maintenance');
    expect(through('token', 300)).toBe(300);
  });

  it('because of ten thousand others: the longest unused are forgotten first', () => {
    const { reads, through } = floodOf();
    reads.note('balance', 'first', 'alpha');
    through('first', 200);
    for (let number = 1; number < 10_000; number += 1) {
      reads.note('balance', `token-${number}`, 'alpha');
    }
    expect(through('first', 1)).toBe(0);
    reads.note('balance', 'last', 'alpha');
    expect(through('token-1', 1)).toBe(1);
    expect(through('token-2', 1)).toBe(0);
  });
});
