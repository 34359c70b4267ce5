import { expect, it } from 'vitest';
import { Bulkhead } from '../../src/outbound/bulkhead.ts';

it('lets in as many as fit and refuses the next at once', () => {
  const bulkhead = new Bulkhead(2);
  expect([bulkhead.enter(), bulkhead.enter(), bulkhead.enter()]).toEqual([true, true, false]);
  expect(bulkhead.full).toBe(true);
  bulkhead.leave();
  expect(bulkhead.enter()).toBe(true);
});

it('takes a smaller limit at once and lets those inside leave in peace', () => {
  const bulkhead = new Bulkhead(3);
  bulkhead.enter();
  bulkhead.enter();
  bulkhead.resize(1);
  expect(bulkhead.enter()).toBe(false);
  bulkhead.leave();
  expect(bulkhead.enter()).toBe(false);
  bulkhead.leave();
  expect(bulkhead.inFlight).toBe(0);
  expect(bulkhead.enter()).toBe(true);
});
