import { describe, expect, it, vi } from 'vitest';
import { nearMiss } from '../../src/config/near-miss.ts';

const KEYS = ['baseUrl', 'timeoutMs', 'secrets', 'breaker', 'cid', 'id'];

describe('nearMiss', () => {
  it.each([
    ['timeoutms', 'timeoutMs'],
    ['timeout_ms', 'timeoutMs'],
    ['timoutMs', 'timeoutMs'],
    ['timeout', 'timeoutMs'],
    ['baesUrl', 'baseUrl'],
    ['base-url', 'baseUrl'],
    ['secret', 'secrets'],
    ['cdi', 'cid'],
  ])('takes %s for %s', (word, meant) => expect(nearMiss(word, KEYS)).toBe(meant));

  it.each(['wallet', 'x', 'currencies'])('takes %s for nothing near', (word) =>
    expect(nearMiss(word, ['baseUrl', 'timeoutMs'])).toBeUndefined(),
  );

  it('has nothing to offer without candidates', () => expect(nearMiss('cid', [])).toBeUndefined());

  it('compares no letters where the length tells, be the word a whole file (I7)', () => {
    const word = 'x'.repeat(60_000);
    const letters = vi.spyOn(Array, 'from');
    expect(nearMiss(word, ['baseUrl', 'timeoutMs'])).toBeUndefined();
    const rows = letters.mock.calls.length;
    letters.mockRestore();
    expect(rows).toBe(0);
  });
});
