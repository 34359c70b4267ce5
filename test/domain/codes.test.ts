import { describe, expect, it } from 'vitest';
import { CODES, ROLLBACK_REASONS } from '../../src/domain/codes.ts';
import samples from '../fixtures/samples.json' with { type: 'json' };

describe('the error codes', () => {
  it('name every published code, and beyond those only "not found" of the operator API', () => {
    const published = Object.values(samples.errors.codes).flatMap((group) => Object.keys(group));
    const named = Object.values(CODES).map(String);
    expect(named.sort()).toEqual([...published, '2'].sort());
  });

  it('name the reasons of a rollback without one standing twice', () => {
    const reasons = Object.values(ROLLBACK_REASONS);
    expect(new Set(reasons).size).toBe(reasons.length);
    expect(reasons).toEqual([8, 9, 10, 32, 50, 52, 110, 111, 112, 113, 114, 115]);
  });
});
