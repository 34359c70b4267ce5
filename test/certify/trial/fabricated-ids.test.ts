import { expect, it } from 'vitest';
import { fabricatedLike } from '../../../src/certify/trial/fabricated-ids.ts';

const many = (real: string, taken: readonly string[] = []) =>
  Array.from({ length: 300 }, () => fabricatedLike(real, taken));

it.each([
  ['1999', /^[1-9]\d{3}$/],
  ['7', /^[1-9]$/],
  ['ann', /^[a-z]{3}$/],
  ['Ann-7_x', /^[A-Z][a-z]{2}-\d_[a-z]$/],
  ['0b9e1f6c-aa', /^[0-9a-f]{8}-[0-9a-f]{2}$/],
  ['--', /^---$/],
])('looks like %s, and is not it', (real, pattern) => {
  for (const stranger of many(real)) {
    expect(stranger).toMatch(pattern);
    expect(stranger).not.toBe(real);
  }
});

it('is nobody else either', () => {
  const others = [...'bcdefghijklmnopqrstuvwxy'];
  expect(new Set(many('a', others))).toEqual(new Set(['z']));
});
