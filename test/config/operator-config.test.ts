import { describe, expect, it } from 'vitest';
import { GATEWAY, load, operatorYaml, problemsOf } from './support/folder.ts';

const both = (gateway: string, operator: string, wallet = '') => ({
  'gateway.yaml': `${GATEWAY}${gateway}\n`,
  'operators/alpha.yaml': operatorYaml('alpha', operator, wallet),
});

const alphaOf = (files: Record<string, string>) => load(files).operators.get('alpha');

describe('an operator beside the gateway', () => {
  it("puts its own delivery settings over the gateway's, item by item", () => {
    const files = both(
      'delivery: { horizonHours: 24, maxBackoffMs: 60000, ratePerSecond: 5 }',
      'delivery: { horizonHours: 0.25, concurrency: 2 }',
    );
    expect(alphaOf(files)?.delivery).toEqual({
      horizonHours: 0.25,
      minBackoffMs: 1000,
      maxBackoffMs: 60_000,
      confirmUnknownAfterMs: 60_000,
      originateRollbackAfterMs: 600_000,
      concurrency: 2,
      ratePerSecond: 5,
    });
  });

  it("refuses delivery settings that contradict the gateway's", () => {
    const files = both('delivery: { maxBackoffMs: 5000 }', 'delivery: { minBackoffMs: 6000 }');
    expect(problemsOf(files)).toEqual([
      'operators/alpha.yaml: delivery.minBackoffMs: 6000 is above maxBackoffMs (5000): lower it, or raise maxBackoffMs',
    ]);
  });

  it('lets a timeout give way to a shorter deadline, whether it was written or not (I1)', () => {
    const short = 'deadline: { totalMs: 2000 }';
    expect(alphaOf(both(short, ''))?.wallet.timeoutMs).toBe(2000);
    expect(alphaOf(both(short, '', '  timeoutMs: 4000'))?.wallet.timeoutMs).toBe(2000);
    expect(alphaOf(both('', '', '  timeoutMs: 250'))?.wallet.timeoutMs).toBe(250);
  });
});
