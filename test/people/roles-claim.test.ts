import { describe, expect, it } from 'vitest';
import { actorIn, roleIn } from '../../src/people/roles-claim.ts';

describe('the role that an issuer gives', () => {
  it.each<[unknown, string, string | undefined]>([
    [{ roles: 'viewer' }, 'roles', 'viewer'],
    [{ roles: ['support', 'viewer'] }, 'roles', 'support'],
    [{ roles: ['finance', 'support'] }, 'roles', 'finance'],
    [{ roles: ['viewer', 'admin', 'x'] }, 'roles', 'admin'],
    [{ realm_access: { roles: ['admin'] } }, 'realm_access.roles', 'admin'],
    [{ 'https://x.example/roles': ['viewer'] }, 'https://x.example/roles', 'viewer'],
    [{ 'a.b': 'viewer', a: { b: 'admin' } }, 'a.b', 'viewer'],
    [{ roles: 'viewer admin' }, 'roles', undefined],
    [{ roles: { admin: true } }, 'roles', undefined],
    [{ roles: [['admin']] }, 'roles', undefined],
    [{ roles: null }, 'roles.length', undefined],
    [{}, 'constructor.name', undefined],
  ])('of %j by %s is %s', (claims, path, role) => {
    const where = { rolesClaim: path, rolesPrefix: '' };
    expect(roleIn(claims as Record<string, unknown>, where)).toBe(role);
  });

  it.each([
    [['wagergate-support', 'wagergate-viewer'], 'support'],
    // A group that the company has for something else.
    [['admin', 'wagergate-viewer'], 'viewer'],
    [['admin', 'wagergate-', 'wagergate-root', 'xwagergate-admin'], undefined],
    ['wagergate-admin', 'admin'],
  ])('of %j is %s where each role has the prefix of the gateway', (groups, role) => {
    const where = { rolesClaim: 'groups', rolesPrefix: 'wagergate-' };
    expect(roleIn({ groups }, where)).toBe(role);
  });
});

describe('who somebody is', () => {
  it.each<[Record<string, unknown>, string | undefined]>([
    [{ email: 'a@x.example', sub: '1' }, 'a@x.example'],
    [{ sub: '1' }, '1'],
    [{ email: 'a@x.example', email_verified: false, sub: '1' }, '1'],
    [{ email: '', sub: '1' }, '1'],
    [{ email: 7, sub: '1' }, '1'],
    [{ email: 'x'.repeat(201), sub: 'a\0b' }, undefined],
    [{ email: 'a@x.example', email_verified: 'false', sub: '1' }, '1'],
    [{ email: 'a@x.example', email_verified: 'False', sub: '1' }, '1'],
    [{ email: 'a@x.example', email_verified: 0, sub: '1' }, '1'],
    [{ email: 'a@x.example', email_verified: '0', sub: '1' }, '1'],
    [{ email: 'a@x.example', email_verified: 'no', sub: '1' }, '1'],
    [{ email: 'a@x.example', email_verified: 'true', sub: '1' }, 'a@x.example'],
    [{ email: 'a@x.example', email_verified: null, sub: '1' }, 'a@x.example'],
    [{ email: 'token', sub: '1' }, '1'],
    [{ email: 'cli:root@host', sub: '1' }, '1'],
    [{ sub: 'token' }, undefined],
    [{ sub: 'configuration' }, undefined],
    [{ sub: 'cli:root' }, undefined],
    [{ sub: 'tokens' }, 'tokens'],
    [{ email: 'zoë@x.example', sub: '1' }, 'zoë@x.example'],
    // What would look like somebody else's name in the audit.
    [{ email: 'a@x.example\u200b', sub: '1' }, '1'],
    [{ email: '\u202eelpmaxe.x@a', sub: '1' }, '1'],
    [{ email: ' a@x.example', sub: '1' }, '1'],
    [{ email: 'a@x.example\u00a0', sub: '1' }, '1'],
    [{ email: 'a@x.example\n2026-11-26 b@x.example', sub: '1' }, '1'],
    // Fillers, joiners and variation selectors are letters and marks to Unicode, and seen by nobody.
    [{ email: 'a\ufe0f@x.example', sub: '1' }, '1'],
    [{ email: 'a@x.example\u3164', sub: '1' }, '1'],
    [{ email: 'a\u034f@x.example', sub: '1' }, '1'],
    [{ email: '\u{e0100}a@x.example', sub: '1' }, '1'],
    [{ email: 'a@x.example\u2800', sub: '1' }, '1'],
    [{ sub: 'token\u00ad' }, undefined],
    [{}, undefined],
  ])('of %j is %s', (claims, actor) => {
    expect(actorIn(claims)).toBe(actor);
  });
});
