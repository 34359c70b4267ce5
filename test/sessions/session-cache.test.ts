import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readEncryptionKeys } from '../../src/config/environment/encryption-keys.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { Accelerator } from '../../src/redis/accelerator.ts';
import type { Session } from '../../src/sessions/session.ts';
import { SessionCache } from '../../src/sessions/session-cache.ts';
import { TokenVault } from '../../src/sessions/token-vault.ts';
import { sharedRedis } from '../support/redis.ts';

const KEY = Buffer.alloc(32, 7).toString('base64');
const vault = new TokenVault(readEncryptionKeys(KEY));

const session: Session = {
  sessionId: '1',
  owner: { operatorId: 'alpha', playerId: '1', userId: 'u', operatorUser: 'ann' },
  currency: 'USD',
  operatorToken: 'anns-own-token',
  expiresAtMs: systemClock.nowMs() + 600_000,
};

let accelerator: Accelerator;
let cache: SessionCache;
beforeAll(async () => {
  accelerator = new Accelerator({
    url: (await sharedRedis()).url,
    prefix: 'session-cache:',
    clock: systemClock,
    logger: pino({ level: 'silent' }),
  });
  await accelerator.connected(5_000);
  cache = new SessionCache(accelerator, 'here', vault);
});
afterAll(() => accelerator.close());

it('gives a session as it was remembered, again and again', async () => {
  const hash = vault.hash('again');
  cache.remember(hash, session, systemClock.nowMs());
  expect(await cache.find(hash)).toEqual(session);
  expect(await cache.find(hash)).toEqual(session);
});

it('gives no session that has ended, however often it was read before', async () => {
  const hash = vault.hash('ended');
  cache.remember(hash, session, systemClock.nowMs());
  expect(await cache.find(hash)).toEqual(session);
  await cache.distrust(hash);
  expect(await cache.find(hash)).toBeUndefined();
});

it('gives no session of another database, and heeds that it has ended there (I8)', async () => {
  const elsewhere = new SessionCache(accelerator, 'elsewhere', vault);
  const hash = vault.hash('elsewhere');
  elsewhere.remember(hash, session, systemClock.nowMs());
  expect(await elsewhere.find(hash)).toEqual(session);
  expect(await cache.find(hash)).toBeUndefined();
  await cache.distrust(hash);
  expect(await elsewhere.find(hash)).toBeUndefined();
});

it.each([
  'databaseId',
  'sessionId',
  'operatorId',
  'playerId',
  'userId',
  'operatorUser',
  'currency',
  'expiresAtMs',
])('takes no session that it has read once its %s was written over (I8)', async (member) => {
  const hash = vault.hash(`overwritten ${member}`);
  cache.remember(hash, session, systemClock.nowMs());
  expect(await cache.find(hash)).toEqual(session);
  const key = `session:${hash.toString('base64url')}`;
  const text = (await accelerator.get(key)) ?? '';
  const other = text.replace(new RegExp(`"${member}":"?`), '$&9');
  expect(other).not.toBe(text);
  await accelerator.set(key, other, 60_000);
  expect(await cache.find(hash)).toBeUndefined();
});
