import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readEncryptionKeys } from '../../src/config/encryption-keys.ts';
import type { BetOwner } from '../../src/domain/bet.ts';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { Accelerator } from '../../src/redis/accelerator.ts';
import { betToken } from '../../src/sessions/bet-token.ts';
import { SessionCache } from '../../src/sessions/session-cache.ts';
import { Sessions } from '../../src/sessions/sessions.ts';
import { TokenVault } from '../../src/sessions/token-vault.ts';
import { Database } from '../../src/store/database.ts';
import { Players } from '../../src/store/sessions/players.ts';
import { SessionStore } from '../../src/store/sessions/session-store.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { sharedRedis } from '../support/redis.ts';
import { onServer } from '../support/server.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

const logger = pino({ level: 'silent' });
const KEY = base64Key(7);

/** 32 bytes that differ by a number. */
function base64Key(byte: number): string {
  return Buffer.alloc(32, byte).toString('base64');
}

let testDatabase: TestDatabase;
let database: Database;
let accelerator: Accelerator;
/** Before the same Redis, and a connection through it. */
let proxy: TcpProxy;
let throughProxy: Accelerator;
let owner: BetOwner;
let players = 0;

beforeAll(async () => {
  testDatabase = await createDatabase();
  database = new Database({
    url: testDatabase.url,
    connectionsMax: 4,
    onIdleError: () => undefined,
  });
  const url = new URL((await sharedRedis()).url);
  accelerator = await connect(url);
  proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
  url.port = String(proxy.port);
  throughProxy = await connect(url);
});
afterAll(async () => {
  throughProxy.close();
  await proxy.close();
  accelerator.close();
  await database.close();
  await testDatabase.drop();
});
beforeEach(async () => {
  players += 1;
  owner = await new Players(database).ensure('alpha', `player-${players}`);
});

async function connect({ href: url }: URL): Promise<Accelerator> {
  const connection = new Accelerator({ url, prefix: 'test:', clock: systemClock, logger });
  await connection.connected(5_000);
  return connection;
}

/** A replica's sessions; all share PostgreSQL and Redis. */
function replica(
  key: string | 'no key' = KEY,
  store = new SessionStore(database),
  clock: Clock = systemClock,
  redis = accelerator,
): Sessions {
  const vault = new TokenVault(readEncryptionKeys(key === 'no key' ? undefined : key));
  const cache = new SessionCache(redis, vault);
  return new Sessions({ store, cache, vault, clock, logger });
}

/** A store whose reads of a token stop, once, between PostgreSQL's answer and its use. */
class HeldStore extends SessionStore {
  readonly #read = Promise.withResolvers<void>();
  readonly #release = Promise.withResolvers<void>();
  readonly read = this.#read.promise;
  readonly release = this.#release.resolve;

  override async findByTokenHash(tokenHash: Buffer) {
    const row = await super.findByTokenHash(tokenHash);
    this.#read.resolve();
    await this.#release.promise;
    return row;
  }
}

const openIn = async (sessions: Sessions, currency: string, operatorToken: string) => {
  const opened = await sessions.open(owner, currency, operatorToken, 600);
  if (opened === undefined) throw new Error('no session');
  return opened;
};
const open = (sessions: Sessions) => openIn(sessions, 'USD', 'anns-own-token');
const revokeAll = (sessions: Sessions) =>
  sessions.revoke('alpha', { operatorUser: owner.operatorUser });

describe('a session that is read', () => {
  it('is live at every replica, with the operator’s token unsealed', async () => {
    const { token } = await open(replica());
    expect(await replica().find(token)).toMatchObject({
      kind: 'live',
      session: { owner, currency: 'USD', operatorToken: 'anns-own-token' },
    });
  });

  it('is read from Redis the second time, so that PostgreSQL may be away', async () => {
    const { token } = await open(replica());
    await replica().find(token);
    const away = new Database({
      url: 'postgresql://nobody@127.0.0.1:1/none',
      connectionsMax: 1,
      onIdleError: () => undefined,
    });
    const sessions = replica(KEY, new SessionStore(away));
    expect(await sessions.find(token)).toMatchObject({ kind: 'live', session: { owner } });
    await expect(sessions.find('another')).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    await away.close();
  });

  it('is over for every replica once it is revoked, however often it was read before', async () => {
    const [here, there] = [replica(), replica()];
    const { token } = await open(here);
    await Promise.all([here.find(token), there.find(token), there.route(token)]);
    expect(await revokeAll(here)).toBe(1);
    for (const sessions of [here, there]) {
      expect(await sessions.find(token)).toMatchObject({ kind: 'ended', reason: 'revoked' });
      expect(await sessions.findCertain(token)).toMatchObject({ kind: 'ended' });
    }
  });

  it('is not cached by a reader that was overtaken by its revocation', async () => {
    const store = new HeldStore(database);
    const [slow, here] = [replica(KEY, store), replica()];
    const { token } = await open(here);
    const reading = slow.find(token);
    await store.read;
    await revokeAll(here);
    store.release();
    // It had been live when PostgreSQL was asked; what matters is that nobody hears so again.
    expect(await reading).toMatchObject({ kind: 'live' });
    expect(await here.find(token)).toMatchObject({ kind: 'ended' });
    expect(await slow.find(token)).toMatchObject({ kind: 'ended' });
  });

  it('is not cached by a reader that was overtaken by a change of currency', async () => {
    const store = new HeldStore(database);
    const [slow, here] = [replica(KEY, store), replica()];
    const { token, session } = await open(here);
    const reading = slow.find(token);
    await store.read;
    await here.endForCurrency(token, session);
    store.release();
    await reading;
    expect(await slow.find(token)).toMatchObject({ kind: 'ended', reason: 'currency' });
  });

  it.each(['revoked', 'currency'] as const)(
    'is over also for a Redis that was away when it ended (%s) and came back',
    async (how) => {
      const away = replica(KEY, new SessionStore(database), systemClock, throughProxy);
      const { token, session } = await open(away);
      expect(await away.find(token)).toMatchObject({ kind: 'live' });
      await proxy.cut();
      if (how === 'revoked') await revokeAll(away);
      else await away.endForCurrency(token, session);
      await proxy.restore();
      const found = () => replica().find(token);
      await expect.poll(found, { timeout: 10_000 }).toMatchObject({ kind: 'ended', reason: how });
    },
  );

  it('whose cached time is over is asked for anew: it may have been renewed', async () => {
    const { token } = await open(replica());
    await replica().find(token);
    const nowMs = () => systemClock.nowMs() + 3_600_000;
    const store = new HeldStore(database);
    store.release();
    const late = replica(KEY, store, { ...systemClock, nowMs });
    // PostgreSQL's clock decides, and by it the session has minutes left.
    expect(await late.find(token)).toMatchObject({ kind: 'live' });
    await store.read;
  });
});

describe('what never changes about a session', () => {
  it('is remembered in the process, without a word on whether it still lives', async () => {
    const sessions = replica();
    const { token } = await open(sessions);
    await sessions.find(token);
    await revokeAll(sessions);
    // A place asks PostgreSQL in the statement that writes its intent.
    expect(await sessions.route(token)).toMatchObject({ kind: 'live', session: { owner } });
    expect(await replica().route(token)).toMatchObject({ kind: 'ended' });
  });

  it('gives a bet its operator token also when the session has ended', async () => {
    const sessions = replica();
    const { session } = await open(sessions);
    await revokeAll(sessions);
    expect(await sessions.operatorTokenOf(session.sessionId)).toBe('anns-own-token');
    expect(await sessions.operatorTokenOf('999999')).toBeUndefined();
  });
});

describe('a prefixed token', () => {
  it('stays with the player and currency it was learnt for (I8)', async () => {
    const sessions = replica();
    const token = `alpha.shared-${players}`;
    const other = await new Players(database).ensure('alpha', `other-${players}`);
    expect(await sessions.learn(token, owner, 'USD', 'own', 600)).toMatchObject({ owner });
    expect(await sessions.learn(token, other, 'USD', 'own', 600)).toBeUndefined();
    expect(await sessions.learn(token, owner, 'EUR', 'own', 600)).toBeUndefined();
    expect(await sessions.find(token)).toMatchObject({ kind: 'live', session: { owner } });
  });

  it('is not brought back by a profile after it was revoked', async () => {
    const sessions = replica();
    const token = `alpha.revoked-${players}`;
    await sessions.learn(token, owner, 'USD', 'own', 600);
    await revokeAll(sessions);
    expect(await sessions.learn(token, owner, 'USD', 'own', 600)).toBeUndefined();
  });
});

describe('ENCRYPTION_KEY set after some sessions were opened without it', () => {
  it('goes on giving those, and their operator tokens', async () => {
    const before = await open(replica('no key'));
    const after = await open(replica(`${KEY},plain`));
    expect(after.token).toBe(before.token);
    expect(after.session.operatorToken).toBe('anns-own-token');
    expect(await replica(`${KEY},plain`).findCertain(before.token)).toMatchObject({
      session: { operatorToken: 'anns-own-token' },
    });
    await revokeAll(replica(KEY));
    const next = await open(replica(KEY));
    expect((await open(replica(KEY))).token).toBe(next.token);
  });

  it('refuses what is stored plain where nobody said that some is', async () => {
    const { token, session } = await open(replica('no key'));
    const refused = { code: 'TOKEN_UNOPENABLE' };
    await expect(replica(KEY).findCertain(token)).rejects.toMatchObject(refused);
    // A promise is kept without it.
    expect(await replica(KEY).operatorTokenOf(session.sessionId)).toBeUndefined();
  });
});

describe('ENCRYPTION_KEY that is being rotated', () => {
  const [OLD, NEW] = [`old:${KEY}`, `new:${base64Key(8)}`];

  it('gives a live session again, whichever key it was opened under, at every replica', async () => {
    const { token } = await open(replica(OLD));
    for (const keys of [`${OLD},${NEW}`, `${NEW},${OLD}`, OLD]) {
      expect((await open(replica(keys))).token).toBe(token);
      expect(await replica(keys).findCertain(token)).toMatchObject({
        session: { operatorToken: 'anns-own-token' },
      });
    }
  });

  it('gives one session to replicas that are at different steps, also at once', async () => {
    const replicas = [`${OLD},${NEW}`, `${NEW},${OLD}`, `${OLD},${NEW}`, `${NEW},${OLD}`];
    const opened = await Promise.all(replicas.map((keys) => open(replica(keys))));
    expect(new Set(opened.map(({ token }) => token)).size).toBe(1);
  });

  it('opens another session where the key of the first is gone, and leaves that one be', async () => {
    const first = await open(replica(OLD));
    const second = await open(replica(NEW));
    expect(second.token).not.toBe(first.token);
    expect((await open(replica(NEW))).token).toBe(second.token);
    expect(await replica(OLD).findCertain(first.token)).toMatchObject({ kind: 'live' });
  });

  it('goes without the operator’s token where it cannot be opened, and says so', async () => {
    const { token, session } = await open(replica(OLD));
    const sessions = replica(NEW);
    expect(await sessions.operatorTokenOf(session.sessionId)).toBeUndefined();
    expect(
      await betToken(sessions, { sessionId: session.sessionId, owner }, token),
    ).toBeUndefined();
    const reference = sessions.referenceOf(token);
    expect(await betToken(sessions, { sessionId: undefined, owner }, reference)).toBeUndefined();
    expect(await replica(OLD).operatorTokenOf(session.sessionId)).toBe('anns-own-token');
  });

  it('asks PostgreSQL where Redis holds what another key has sealed', async () => {
    const { token } = await open(replica(OLD));
    await replica(OLD).find(token);
    await expect(replica(NEW).find(token)).rejects.toMatchObject({ code: 'TOKEN_UNOPENABLE' });
    expect(await replica(`${NEW},${OLD}`).find(token)).toMatchObject({ kind: 'live' });
  });

  it('never takes the token of one session for another’s, though both are in the table (I8)', async () => {
    const one = await open(replica(OLD));
    const other = await openIn(replica(OLD), 'EUR', 'anns-other-token');
    await onServer(testDatabase.url, (client) =>
      client.query(
        'UPDATE sessions SET operator_token = (SELECT operator_token FROM sessions WHERE id = $2) WHERE id = $1',
        [one.session.sessionId, other.session.sessionId],
      ),
    );
    expect(await replica(OLD).operatorTokenOf(one.session.sessionId)).toBeUndefined();
    expect(await replica(OLD).operatorTokenOf(other.session.sessionId)).toBe('anns-other-token');
  });
});

describe('what Redis holds of a session', () => {
  const keyOf = (token: string) =>
    `session:${new TokenVault(undefined).hash(token).toString('base64url')}`;

  async function cached(): Promise<{ token: string; text: string }> {
    const { token } = await open(replica());
    await replica().find(token);
    return { token, text: (await accelerator.get(keyOf(token))) ?? '' };
  }

  it.each([
    ['nothing', ''],
    ['half of it', '{"sessionId":"1","oper'],
    ['no object', '17'],
    ['another program’s', '{"hello":"world"}'],
    ['a list of lists', '[[[]]]'],
  ])('is a miss where it is %s: PostgreSQL is asked', async (_what, text) => {
    const { token } = await cached();
    await accelerator.set(keyOf(token), text, 60_000);
    expect(await replica().find(token)).toMatchObject({ kind: 'live', session: { owner } });
  });

  it('is a miss where anything of it was changed, such as whose it is (I8)', async () => {
    const { token, text } = await cached();
    const entry: Record<string, unknown> = JSON.parse(text);
    for (const name of Object.keys(entry)) {
      const value = typeof entry[name] === 'number' ? Date.now() + 9e6 : 'changed';
      await accelerator.set(keyOf(token), JSON.stringify({ ...entry, [name]: value }), 60_000);
      expect(await replica().find(token)).toMatchObject({ kind: 'live', session: { owner } });
    }
    await accelerator.set(keyOf(token), text, 60_000);
  });

  it('opens beside no other token', async () => {
    const [one, other] = [await cached(), await openIn(replica(), 'EUR', 'another')];
    await accelerator.set(keyOf(other.token), one.text, 60_000);
    expect(await replica().find(other.token)).toMatchObject({ session: { currency: 'EUR' } });
  });
});
