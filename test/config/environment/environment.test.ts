import { describe, expect, it } from 'vitest';
import { readEnvironment } from '../../../src/config/environment/environment.ts';

const SERVERS = { DATABASE_URL: 'postgresql://u:p@db/wagergate', REDIS_URL: 'redis://redis' };
const reading = (env: NodeJS.ProcessEnv) => () => readEnvironment({ ...SERVERS, ...env });

describe('the environment', () => {
  it('takes an admin token of 32 characters, or none', () => {
    expect(readEnvironment({ ...SERVERS, ADMIN_TOKEN: 'x'.repeat(32) }).adminToken).toHaveLength(
      32,
    );
    expect(readEnvironment({ ...SERVERS, ADMIN_TOKEN: '' }).adminToken).toBeUndefined();
  });

  it('takes it without the line break that no request could bring along', () => {
    const token = 'x'.repeat(32);
    expect(readEnvironment({ ...SERVERS, ADMIN_TOKEN: `${token}\n` }).adminToken).toBe(token);
    expect(reading({ ADMIN_TOKEN: `${token.slice(1)}\n` })).toThrow(/at least 32 characters/);
  });

  it('refuses a shorter one without showing it', () => {
    const short = 'hunter2-'.repeat(4).slice(0, 31);
    expect(reading({ ADMIN_TOKEN: short })).toThrow(
      /^ADMIN_TOKEN must have at least 32 characters/,
    );
    expect(reading({ ADMIN_TOKEN: short })).not.toThrow(/hunter2/);
  });

  it('takes one encryption key or a list', () => {
    const [one, other] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64'));
    const keysOf = (ENCRYPTION_KEY: string) =>
      readEnvironment({ ...SERVERS, ENCRYPTION_KEY }).encryptionKeys?.keys.length;
    expect(keysOf(`${one}`)).toBe(1);
    expect(keysOf(`b:${other},a:${one}`)).toBe(2);
    expect(reading({ ENCRYPTION_KEY: 'short' })).toThrow(/^ENCRYPTION_KEY must be 32 bytes/);
  });

  it('believes no proxy in front of the internal listener, or those that are named', () => {
    const named = (ADMIN_TRUST_PROXY?: string) =>
      readEnvironment({ ...SERVERS, ADMIN_TRUST_PROXY }).adminTrustProxy;
    for (const none of [undefined, '', ' ']) expect(named(none)).toEqual([]);
    expect(named('10.4.0.0/16, 2001:db8::/48\n')).toEqual(['10.4.0.0/16', '2001:db8::/48']);
    for (const wrong of ['true', '10.4.0.1', '10.4.0.0/33', '10.4.0.0/16 10.5.0.0/16', '*']) {
      expect(reading({ ADMIN_TRUST_PROXY: wrong }), wrong).toThrow(
        /^ADMIN_TRUST_PROXY must be CIDRs separated by commas/,
      );
    }
  });

  it('refuses folders of secrets that would open more than secrets', () => {
    expect(reading({ SECRET_FOLDERS: '/' })).toThrow(/^SECRET_FOLDERS must be absolute folders/);
  });

  it('takes the usual address of its database for the direct one if there is no other', () => {
    const directOf = (env: NodeJS.ProcessEnv) =>
      readEnvironment({ ...SERVERS, ...env }).directDatabaseUrl;
    expect(directOf({})).toBe(SERVERS.DATABASE_URL);
    expect(directOf({ DATABASE_DIRECT_URL: ' ' })).toBe(SERVERS.DATABASE_URL);
    expect(directOf({ DATABASE_DIRECT_URL: 'postgresql://u:p@db:5433/w\n' })).toBe(
      'postgresql://u:p@db:5433/w',
    );
    expect(reading({ DATABASE_DIRECT_URL: 'mysql://u:geheim@db' })).toThrow(
      /^DATABASE_DIRECT_URL begins with mysql: (?!.*geheim)/,
    );
  });

  it('takes the addresses of its servers without the blanks around them', () => {
    const env = { DATABASE_URL: ` ${SERVERS.DATABASE_URL}\n`, REDIS_URL: `${SERVERS.REDIS_URL}\n` };
    const { databaseUrl, redisUrl } = readEnvironment(env);
    expect([databaseUrl, redisUrl]).toEqual([SERVERS.DATABASE_URL, SERVERS.REDIS_URL]);
  });

  it('takes what people sign in by without the blanks around it', () => {
    const { adminToken, oidc, consoleUrl } = readEnvironment({
      ...SERVERS,
      ADMIN_TOKEN: ` ${'t'.repeat(32)}\n`,
      CONSOLE_URL: 'https://console.example\n',
      OIDC_ISSUER: ' https://id.example\n',
      OIDC_CLIENT_ID: 'gateway\n',
      OIDC_CLIENT_SECRET: 'geheim\r\n',
      OIDC_ROLES_CLAIM: ' \n',
    });
    expect(adminToken).toBe('t'.repeat(32));
    expect(consoleUrl).toBe('https://console.example');
    expect(oidc).toEqual({
      issuer: 'https://id.example',
      clientId: 'gateway',
      clientSecret: 'geheim',
      audience: 'gateway',
      rolesClaim: 'roles',
      rolesPrefix: '',
      scopes: 'openid email profile',
    });
  });

  it.each([
    ['DATABASE_URL', { DATABASE_URL: '' }, /^DATABASE_URL is not set.*DATABASE_URL=postgresql:/],
    ['REDIS_URL', { REDIS_URL: '' }, /^REDIS_URL is not set.*REDIS_URL=redis:/],
    ['a URL that is none', { REDIS_URL: 'localhost' }, /^REDIS_URL is not a URL/],
    [
      'a DATABASE_URL of another kind of server',
      { DATABASE_URL: 'mysql://user:geheim@host/gateway' },
      /^DATABASE_URL begins with mysql: (?!.*geheim).*postgresql:/,
    ],
    [
      'a REDIS_URL of another kind of server',
      { REDIS_URL: 'http://host:6379' },
      /^REDIS_URL begins with http: .*redis:/,
    ],
    [
      'a schema that would be ignored',
      { DATABASE_URL: `${SERVERS.DATABASE_URL}?schema=journal` },
      /^DATABASE_URL names a schema by schema=….*options=-c%20search_path%3D/,
    ],
    ['PORT', { PORT: '80a' }, /^PORT must be a whole number from 0 to 65535$/],
    ['ADMIN_PORT', { ADMIN_PORT: '65536' }, /^ADMIN_PORT must be a whole number/],
    ['PORT, instead of listening at any free one', { PORT: ' ' }, /^PORT must be a whole number/],
    ['PORT, written for a program', { PORT: '0x50' }, /^PORT must be a whole number/],
    [
      'LOG_READS_SAMPLE, instead of logging nothing',
      { LOG_READS_SAMPLE: ' ' },
      /^LOG_READS_SAMPLE must be a number/,
    ],
    ['ROLES', { ROLES: 'http,cook' }, /^ROLES must be http, worker or http,worker$/],
    ['WORKERS', { WORKERS: '0' }, /^WORKERS must be a whole number from 1/],
    ['ADMIN_TOKEN', { ADMIN_TOKEN: `two ${'words'.repeat(8)}` }, /^ADMIN_TOKEN holds a blank/],
    ['LOG_LEVEL', { LOG_LEVEL: 'loud' }, /^LOG_LEVEL must be one of fatal/],
    ['MIGRATE_ON_START', { MIGRATE_ON_START: 'yes' }, /^MIGRATE_ON_START must be one of true/],
    ['ENCRYPTION_KEY', { ENCRYPTION_KEY: 'c2hvcnQ=' }, /^ENCRYPTION_KEY must be 32 bytes/],
    [
      'what leaves certificates unchecked',
      { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
      /^NODE_TLS_REJECT_UNAUTHORIZED is 0.*NODE_EXTRA_CA_CERTS.*wallet\.tls\.ca/,
    ],
  ])('is refused in one line that names %s', (_, env, expected) => {
    expect(reading(env)).toThrow(expected);
    expect(reading(env)).not.toThrow('\n');
  });
});
