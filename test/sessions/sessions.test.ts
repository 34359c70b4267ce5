import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { Database } from '../../src/store/database.ts';
import { Players } from '../../src/store/sessions/players.ts';
import { SessionStore } from '../../src/store/sessions/session-store.ts';
import { onServer } from '../support/server.ts';
import {
  accelerator,
  database,
  databaseUrl,
  HeldStore,
  KEY,
  open,
  owner,
  players,
  proxy,
  replica,
  revokeAll,
  throughProxy,
  useReplicas,
} from './support/replicas.ts';

useReplicas();

const keyOf = (token: string) =>
  `session:${createHash('sha256').update(token).digest('base64url')}`;

/** What Redis has of a session: it is written after the reader was answered. */
async function cached(token: string): Promise<string | undefined> {
  await expect.poll(() => accelerator.get(keyOf(token))).toBeDefined();
  return await accelerator.get(keyOf(token));
}

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
    // It was live when PostgreSQL was asked; what matters is that nobody gets that answer again.
    expect(await reading).toMatchObject({ kind: 'live' });
    expect(await here.find(token)).toMatchObject({ kind: 'ended' });
    expect(await slow.find(token)).toMatchObject({ kind: 'ended' });
  });

  it.each(['revoked', 'currency'] as const)(
    'is over also for a Redis that was away when it ended (%s) and came back',
    async (how) => {
      const away = replica(KEY, new SessionStore(database), systemClock, throughProxy);
      const { token, session } = await open(away);
      expect(await away.find(token)).toMatchObject({ kind: 'live' });
      await cached(token);
      await proxy.cut();
      if (how === 'revoked') await revokeAll(away);
      else await away.endForCurrency(token, session);
      await proxy.restore();
      const found = () => replica().find(token);
      await expect.poll(found).toMatchObject({ kind: 'ended', reason: how });
    },
  );

  it.each(['revoked', 'currency'] as const)(
    'is over also for a Redis that comes back with what it held before it ended (%s)',
    async (how) => {
      const here = replica(KEY, new SessionStore(database), systemClock, throughProxy);
      const { token, session } = await open(here);
      expect(await here.find(token)).toMatchObject({ kind: 'live' });
      const key = keyOf(token);
      const held = await cached(token);
      if (how === 'revoked') await revokeAll(here);
      else await here.endForCurrency(token, session);
      expect(await accelerator.get(key)).toBe('-');
      await proxy.cut();
      await accelerator.set(key, held ?? 'nothing', 600_000);
      expect(await replica().find(token)).toMatchObject({ kind: 'live' });
      await proxy.restore();
      const found = () => replica().find(token);
      await expect.poll(found).toMatchObject({ kind: 'ended', reason: how });
    },
  );
});

describe('what never changes about a session', () => {
  it('is remembered in the process, but not whether the session still lives', async () => {
    const sessions = replica();
    const { token } = await open(sessions);
    await sessions.find(token);
    await revokeAll(sessions);
    // A place asks PostgreSQL in the statement that writes its intent.
    expect(await sessions.route(token)).toMatchObject({ kind: 'live', session: { owner } });
    expect(await replica().route(token)).toMatchObject({ kind: 'ended' });
  });
});

const OWN = { currency: 'USD', operatorToken: 'own', ttlSeconds: 600 };

describe('a prefixed token', () => {
  it('stays with the player and currency it was learnt for (I8)', async () => {
    const sessions = replica();
    const token = `alpha.shared-${players}`;
    const other = await new Players(database).ensure('alpha', `other-${players}`);
    expect(await sessions.learn(token, { ...OWN, owner })).toMatchObject({ owner });
    expect(await sessions.learn(token, { ...OWN, owner: other })).toBeUndefined();
    expect(await sessions.learn(token, { ...OWN, owner, currency: 'EUR' })).toBeUndefined();
    expect(await sessions.find(token)).toMatchObject({ kind: 'live', session: { owner } });
  });

  it('is not revived by a profile after it was revoked', async () => {
    const sessions = replica();
    const token = `alpha.revoked-${players}`;
    await sessions.learn(token, { ...OWN, owner });
    await revokeAll(sessions);
    expect(await sessions.learn(token, { ...OWN, owner })).toBeUndefined();
  });
});

describe('a player whom a failover has lost a moment ago', () => {
  const whileLost = { timeout: 15_000 };

  it.each([
    ['is nobody', 'DELETE FROM players WHERE id = $1'],
    [
      'is another operator’s player by now',
      "UPDATE players SET operator_id = 'beta', user_id = gen_random_uuid()::text WHERE id = $1",
    ],
  ])('gets no session, for its id %s (I8)', whileLost, async (_, lose) => {
    await onServer(databaseUrl(), (client) => client.query(lose, [owner.playerId]));
    const asked = { owner, currency: 'USD', operatorToken: 'anns-own-token', ttlSeconds: 600 };
    const lost = { code: 'DATABASE_UNAVAILABLE' };
    await expect(replica().open(asked)).rejects.toMatchObject(lost);
    await expect(replica().learn('alpha_anns-own-token', asked)).rejects.toMatchObject(lost);
    const count = 'SELECT count(*)::int AS sessions FROM sessions WHERE player_id = $1';
    const { rows } = await onServer(databaseUrl(), (client) =>
      client.query(count, [owner.playerId]),
    );
    expect(rows).toEqual([{ sessions: 0 }]);
  });
});
