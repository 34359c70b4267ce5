import { describe, expect, it } from 'vitest';
import { readEnvironment } from '../../src/config/environment.ts';

const SERVERS = { DATABASE_URL: 'postgresql://u:p@db/wagergate', REDIS_URL: 'redis://redis' };
const reading = (env: NodeJS.ProcessEnv) => () => readEnvironment({ ...SERVERS, ...env });

describe('the environment', () => {
  it('takes an admin token of 32 characters, or none', () => {
    expect(readEnvironment({ ...SERVERS, ADMIN_TOKEN: 'x'.repeat(32) }).adminToken).toHaveLength(
      32,
    );
    expect(readEnvironment({ ...SERVERS, ADMIN_TOKEN: '' }).adminToken).toBeUndefined();
  });

  it('refuses a shorter one without showing it', () => {
    const short = 'hunter2-'.repeat(3);
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

  it('refuses folders of secrets that would open more than secrets', () => {
    expect(reading({ SECRET_FOLDERS: '/' })).toThrow(/^SECRET_FOLDERS must be absolute folders/);
  });
});
