import { expect, it } from 'vitest';
import { askedBy, ownAttemptId } from '../../../src/store/bets/asked-by.ts';

it('tells what the gateway began by itself from what the service asked for', () => {
  const id = ownAttemptId();
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(ownAttemptId()).not.toBe(id);
  expect(askedBy(id)).toBe('gateway');
  expect(askedBy(crypto.randomUUID())).toBe('service');
});
