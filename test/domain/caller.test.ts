import { describe, expect, it } from 'vitest';
import { mayDo, PERSON_ROLES, type Right, rightsOf } from '../../src/domain/caller.ts';

/** The roles of docs/reference.md, People. */
const MAY: Readonly<Record<string, readonly Right[]>> = {
  viewer: ['read'],
  support: ['read', 'personal', 'operate'],
  finance: ['read', 'books'],
  admin: ['read', 'personal', 'operate', 'books', 'administer'],
};
const ALL = MAY.admin ?? [];

describe('who may do what (I12)', () => {
  it('knows these roles, the last of several counting most', () => {
    expect(PERSON_ROLES).toEqual(['viewer', 'support', 'finance', 'admin']);
  });

  it.each(PERSON_ROLES)('is what the contract says of %s, and no more', (role) => {
    expect(rightsOf(role)).toEqual(MAY[role]);
    for (const right of ALL) {
      expect([right, mayDo({ role }, right)]).toEqual([right, MAY[role]?.includes(right)]);
    }
  });
});
