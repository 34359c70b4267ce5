import { describe, expect, it } from 'vitest';
import { readConsoleUrl, readOidc } from '../../../src/config/environment/oidc-environment.ts';

const ISSUER = 'https://id.example/realms/ops';

describe('the issuer of people', () => {
  it('is absent without OIDC_ISSUER, whatever else is set', () => {
    expect(readOidc({})).toBeUndefined();
    expect(readOidc({ OIDC_ISSUER: '', OIDC_CLIENT_ID: 'console' })).toBeUndefined();
  });

  it('requires an address and an audience, and fills in the rest', () => {
    expect(readOidc({ OIDC_ISSUER: ISSUER, OIDC_CLIENT_ID: 'console' })).toEqual({
      issuer: ISSUER,
      clientId: 'console',
      clientSecret: undefined,
      audience: 'console',
      rolesClaim: 'roles',
      rolesPrefix: '',
      scopes: 'openid email profile',
    });
    expect(
      readOidc({
        OIDC_ISSUER: ISSUER,
        OIDC_CLIENT_ID: '',
        OIDC_AUDIENCE: 'gateway',
        OIDC_ROLES_CLAIM: 'realm_access.roles',
        OIDC_ROLES_PREFIX: '/wagergate/',
        OIDC_SCOPES: 'openid roles',
      }),
    ).toMatchObject({
      clientId: undefined,
      audience: 'gateway',
      rolesClaim: 'realm_access.roles',
      rolesPrefix: '/wagergate/',
      scopes: 'openid roles',
    });
  });

  it.each([
    [
      { OIDC_ISSUER: 'id.example', OIDC_CLIENT_ID: 'x' },
      /^OIDC_ISSUER must be an http or https URL/,
    ],
    [
      { OIDC_ISSUER: 'https://me:hidden@id.example', OIDC_CLIENT_ID: 'x' },
      // Without the value itself: it is a password.
      /^OIDC_ISSUER holds a user or a password before its host; (?!.*hidden)/,
    ],
    [{ OIDC_ISSUER: ISSUER }, /neither OIDC_CLIENT_ID nor OIDC_AUDIENCE/],
  ])('that is wrong keeps the gateway from starting: %j', (env, why) => {
    expect(() => readOidc(env)).toThrow(why);
  });
});

describe('CONSOLE_URL', () => {
  it('is an origin', () => {
    expect(readConsoleUrl({})).toBeUndefined();
    expect(readConsoleUrl({ CONSOLE_URL: 'https://c.example/console/' })).toBe('https://c.example');
    expect(() => readConsoleUrl({ CONSOLE_URL: 'c.example' })).toThrow(/^CONSOLE_URL must be/);
  });
});
