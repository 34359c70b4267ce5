import { describe, expect, it } from 'vitest';
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
});
