import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readEncryptionKeys } from '../../src/config/environment/encryption-keys.ts';
import type { BetOwner } from '../../src/domain/bet.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { Accelerator } from '../../src/redis/accelerator.ts';
import { Resealing, type ResealProgress } from '../../src/sessions/resealing.ts';
import { SessionCache } from '../../src/sessions/session-cache.ts';
import { type OpenedSession, Sessions } from '../../src/sessions/sessions.ts';
import { TokenVault } from '../../src/sessions/token-vault.ts';
import { Database } from '../../src/store/database.ts';
import { Players } from '../../src/store/sessions/players.ts';
import { SessionSeals } from '../../src/store/sessions/session-seals.ts';
import { SessionStore } from '../../src/store/sessions/session-store.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { sharedRedis } from '../support/redis.ts';
import { onServer } from '../support/server.ts';

const logger = pino({ level: 'silent' });
const key = (id: string, byte: number) => `${id}:${Buffer.alloc(32, byte).toString('base64')}`;
const [A, B] = [key('a', 7), key('b', 8)];

let testDatabase: TestDatabase;
let database: Database;
let accelerator: Accelerator;
let owner: BetOwner;

beforeAll(async () => {
  accelerator = new Accelerator({
    url: (await sharedRedis()).url,
    prefix: 'resealing:',
    clock: systemClock,
    logger,
  });
  await accelerator.connected(5_000);
});
afterAll(() => accelerator.close());

beforeEach(async () => {
  testDatabase = await createDatabase();
  database = new Database({
    url: testDatabase.url,
    connectionsMax: 4,
    onIdleError: () => undefined,
  });
  owner = await new Players(database).ensure('alpha', 'ann');
  return async () => {
    await database.close();
    await testDatabase.drop();
  };
});

function sessionsWith(keys: string | undefined): Sessions {
  const vault = new TokenVault(readEncryptionKeys(keys));
  const cache = new SessionCache(accelerator, 'here', vault);
  return new Sessions({
    store: new SessionStore(database),
    cache,
    vault,
    clock: systemClock,
    logger,
  });
}

function resealingWith(keys: string | undefined, told: ResealProgress[] = []): Resealing {
  return new Resealing({
    seals: new SessionSeals(database),
    vault: new TokenVault(readEncryptionKeys(keys)),
    logger,
    onProgress: (progress) => told.push(progress),
  });
}

async function openAt(sessions: Sessions, operatorToken: string): Promise<OpenedSession> {
  const opened = await sessions.open({ owner, currency: 'USD', operatorToken, ttlSeconds: 600 });
  if (opened === undefined) throw new Error('no session');
  return opened;
}
const open = (keys: string | undefined, operatorToken = 'anns-own-token') =>
  openAt(sessionsWith(keys), operatorToken);
const columns = () =>
  onServer(testDatabase.url, async (client) => {
    const { rows } = await client.query('SELECT token, sealed_token, operator_token FROM sessions');
    return rows;
  });

describe('after a rotation', () => {
  it('no token is lost when the old key is taken out: live, ended, prefixed, opened meanwhile', async () => {
    const live = await open(A);
    const ended = await open(A, 'of-an-ended-one');
    await sessionsWith(A).revoke('alpha', { token: ended.token });
    const asked = { owner, currency: 'EUR', operatorToken: 'own', ttlSeconds: 600 };
    const learnt = await sessionsWith(A).learn('alpha.own', asked);
    const meanwhile = await open(`${B},${A}`, 'opened-meanwhile');

    expect(await resealingWith(`${B},${A}`).walk()).toEqual({ resealed: 3, unopenable: 0 });

    const after = sessionsWith(B);
    const tokenOf = async (operatorToken: string) => (await openAt(after, operatorToken)).token;
    expect(await tokenOf('anns-own-token')).toBe(live.token);
    expect(await tokenOf('opened-meanwhile')).toBe(meanwhile.token);
    for (const [{ sessionId }, own] of [
      [live.session, 'anns-own-token'],
      [ended.session, 'of-an-ended-one'],
      [learnt ?? { sessionId: '' }, 'own'],
    ] as const) {
      expect(await after.operatorTokenOf(sessionId)).toBe(own);
    }
    expect(await after.findCertain(live.token)).toMatchObject({ kind: 'live' });
    expect(await after.findCertain(ended.token)).toMatchObject({ kind: 'ended' });
  });

  it('no token of a session stands in the table as it is', async () => {
    const { token } = await open(A);
    await resealingWith(`${B},${A}`).walk();
    for (const row of await columns()) {
      expect(row.sealed_token).toBeInstanceOf(Buffer);
      for (const value of Object.values(row)) {
        if (Buffer.isBuffer(value)) expect(value.includes(token)).toBe(false);
      }
    }
  });
});

describe('a first key', () => {
  it('seals what was stored before there was one, once it is told that some is unencrypted', async () => {
    const { token, session } = await open(undefined);
    expect(await resealingWith(A).walk()).toEqual({ resealed: 0, unopenable: 1 });
    expect(await resealingWith(`${A},plain`).walk()).toEqual({ resealed: 1, unopenable: 0 });
    expect((await open(A)).token).toBe(token);
    expect(await sessionsWith(A).operatorTokenOf(session.sessionId)).toBe('anns-own-token');
    expect(JSON.stringify(await columns())).not.toContain(token);
  });
});

describe('while it goes on', () => {
  it('walks past many that cannot be opened to the ones that can', async () => {
    const { session } = await open(key('lost', 3), 'lost');
    await onServer(testDatabase.url, (client) =>
      client.query(
        `INSERT INTO sessions (player_id, operator_id, currency, token_hash, operator_token,
                               operator_token_hash, ordinal, expires_at)
         SELECT player_id, operator_id, currency, sha256(n::text::bytea), operator_token,
                operator_token_hash, n, expires_at
           FROM sessions, generate_series(2, 410) n WHERE id = $1`,
        [session.sessionId],
      ),
    );
    const { token } = await open(A);
    expect(await resealingWith(`${B},${A}`).walk()).toEqual({ resealed: 1, unopenable: 410 });
    expect((await open(B)).token).toBe(token);
  });
});
