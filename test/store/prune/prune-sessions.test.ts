import { randomBytes, randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readEncryptionKeys } from '../../../src/config/environment/encryption-keys.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import type { SessionCache } from '../../../src/sessions/session-cache.ts';
import { Sessions } from '../../../src/sessions/sessions.ts';
import { TokenVault } from '../../../src/sessions/token-vault.ts';
import { pruneSessions } from '../../../src/store/prune/prune-sessions.ts';
import type { RepeatableRequest } from '../../../src/store/sessions/session-rows.ts';
import { SessionStore } from '../../../src/store/sessions/session-store.ts';
import { openTestJournal, type TestJournal } from '../../support/journal.ts';
import { partly } from '../../support/partly.ts';
import { connect, onServer } from '../../support/server.ts';

const BEFORE = new Date('2026-03-01T00:00:00Z');
const LONG_AGO = '2026-02-28T23:59:59Z';
/** With Ann's own token. */
const ASKED = { currency: 'USD', operatorToken: 'anns-own-token', ttlSeconds: 60 };

let journal: TestJournal;
let client: Client;
beforeAll(async () => {
  journal = await openTestJournal();
  client = await connect(journal.url);
});
afterAll(async () => {
  await client.end();
  await journal.close();
});
beforeEach(() => journal.sql('TRUNCATE bets, sessions; UPDATE players SET pruned_ordinal = 0'));

interface SessionFacts {
  readonly expiresAt?: string;
  readonly endedReason?: 'revoked' | 'currency';
  readonly ordinal?: number;
  readonly playerId?: string;
}

/** A session of Ann that expired long ago. @returns its id */
async function session(facts: SessionFacts = {}): Promise<string> {
  const { rows } = await client.query<{ id: string }>(
    `INSERT INTO sessions (player_id, operator_id, currency, token_hash, operator_token,
                           operator_token_hash, ordinal, expires_at, ended_at, ended_reason)
     VALUES ($1, 'alpha', 'USD', $2, '', $2, $3, $4::timestamptz,
             CASE WHEN $5::text IS NOT NULL THEN $4::timestamptz END, $5) RETURNING id`,
    [
      facts.playerId ?? journal.owner.playerId,
      randomBytes(32),
      facts.ordinal ?? 1,
      facts.expiresAt ?? LONG_AGO,
      facts.endedReason ?? null,
    ],
  );
  return rows[0]?.id ?? '';
}

async function bet(sessionId: string | null, settlement: string, rollback = 'none'): Promise<void> {
  await client.query(
    `INSERT INTO bets (transaction_id, operator_id, player_id, session_id, generation, place,
                       settlement, rollback) VALUES ($1, 'alpha', $2, $3, 1, 'accepted', $4, $5)`,
    [randomUUID(), journal.owner.playerId, sessionId, settlement, rollback],
  );
}

function realSessions(): Sessions {
  return new Sessions({
    store: new SessionStore(journal.database),
    cache: partly<SessionCache>({ onReturn: () => undefined }),
    vault: new TokenVault(readEncryptionKeys(Buffer.alloc(32, 7).toString('base64'))),
    ...{ clock: systemClock, logger: pino({ level: 'silent' }) },
  });
}

/** @returns the token of the session that a request opens */
async function opened(sessions: Sessions, request: RepeatableRequest | undefined): Promise<string> {
  const open = await sessions.open({ owner: journal.owner, ...ASKED }, request);
  expect(open).toBeDefined();
  return open?.token ?? '';
}

async function end(reason: 'revoked' | 'currency', at: string): Promise<void> {
  await client.query('UPDATE sessions SET ended_at = $1, ended_reason = $2', [at, reason]);
}

const pruned = (isDryRun = false, before = BEFORE): Promise<number> =>
  onServer(journal.url, (one) => pruneSessions(one, { before, isDryRun, log: () => undefined }));
const ids = async (): Promise<readonly string[]> =>
  (await client.query<{ id: string }>('SELECT id FROM sessions ORDER BY id')).rows.map(
    ({ id }) => id,
  );

describe('pruning sessions', () => {
  it('takes those that expired before and that no bet has', async () => {
    await session();
    await session({ expiresAt: '2025-01-01T00:00:00Z' });
    const later = await session({ expiresAt: '2026-03-01T00:00:00Z' });
    const live = await session({ expiresAt: '2999-01-01T00:00:00Z' });
    expect(await pruned(true)).toBe(2);
    expect(await ids()).toHaveLength(4);
    expect(await pruned()).toBe(2);
    expect(await ids()).toEqual([later, live]);
    expect(await pruned()).toBe(0);
  });

  it.each(['settled', 'none', 'unsettled'])(
    'keeps that of every bet that is kept, here one with the result %s: it goes on with its token (I5)',
    async (settlement) => {
      const [placedWith, other] = [await session(), await session()];
      await bet(placedWith, settlement);
      expect(await pruned()).toBe(1);
      expect(await ids()).toEqual([placedWith]);
      expect(other).not.toBe(placedWith);
    },
  );

  it('keeps that of a bet in flight', async () => {
    const id = await session();
    await client.query(
      `INSERT INTO bets (transaction_id, operator_id, player_id, session_id, generation, place,
                         busy_operation, busy_attempt, busy_until)
       VALUES ('in-flight', 'alpha', $1, $2, 1, 'in_flight', 'place', gen_random_uuid(), now())`,
      [journal.owner.playerId, id],
    );
    expect(await pruned()).toBe(0);
    expect(await ids()).toEqual([id]);
  });

  it('keeps all of a player with a result of unknown outcome: a cashout repeats its token', async () => {
    const all = [await session(), await session()];
    await bet(null, 'unknown');
    expect(await pruned()).toBe(0);
    expect(await ids()).toEqual(all);
    await client.query(`UPDATE bets SET settlement = 'settled'`);
    expect(await pruned()).toBe(2);
  });

  it('keeps all of a player with a cashout that has still to be confirmed: with the token of whoever asked for it (I5)', async () => {
    const [placedWith, askedWith] = [await session(), await session()];
    await bet(placedWith, 'settled');
    await client.query(`UPDATE bets SET settlement_type = 'cashout', confirm_at = now()`);
    expect(await pruned()).toBe(0);
    expect(await ids()).toEqual([placedWith, askedWith]);
    await client.query(`UPDATE bets SET confirm_at = NULL`);
    expect(await pruned()).toBe(1);
    expect(await ids()).toEqual([placedWith]);
  });

  it('leaves one that is renewed while it is looked at', async () => {
    const id = await session();
    await client.query('BEGIN');
    await client.query(`UPDATE sessions SET expires_at = '2999-01-01' WHERE id = $1`, [id]);
    const pruning = pruned();
    const waits = async () =>
      await onServer(journal.url, async (one) => {
        const { rows } = await one.query(
          `SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
             AND wait_event_type = 'Lock' AND query LIKE '%WITH player AS MATERIALIZED%'`,
        );
        return rows.length;
      });
    await expect.poll(waits).toBe(1);
    await client.query('COMMIT');
    expect(await pruning).toBe(0);
    expect(await ids()).toEqual([id]);
  });

  it('remembers the highest ordinal that is gone, and never a lower one', async () => {
    const ordinal = async () =>
      (
        await client.query<{ ordinal: number }>(
          'SELECT pruned_ordinal AS ordinal FROM players WHERE id = $1',
          [journal.owner.playerId],
        )
      ).rows[0]?.ordinal;
    await session({ ordinal: 7 });
    await session({ ordinal: 3 });
    await session({ ordinal: 9, endedReason: 'revoked' });
    await pruned();
    expect(await ordinal()).toBe(7);
    await session({ ordinal: 2 });
    expect(await pruned()).toBe(1);
    expect(await ordinal()).toBe(7);
  });

  it('goes through all players, and leaves them there', async () => {
    await client.query(
      `WITH many AS (
         INSERT INTO players (operator_id, operator_user, user_id)
         SELECT 'beta', 'user-' || n, 'many-' || n FROM generate_series(1, 450) n RETURNING id)
       INSERT INTO sessions (player_id, operator_id, currency, token_hash, operator_token,
                             operator_token_hash, ordinal, expires_at)
       SELECT id, 'beta', 'USD', convert_to('hash-' || id, 'UTF8'), '', '', 1, $1::timestamptz
         FROM many`,
      [LONG_AGO],
    );
    expect(await pruned()).toBe(450);
    const { rows } = await client.query(`SELECT 1 FROM players WHERE operator_id = 'beta'`);
    expect(rows).toHaveLength(450);
  });

  describe('of those that ended', () => {
    const all = ['revoked', 'currency'] as const;

    it.each(all)('takes one that no request can open again (%s)', async (reason) => {
      const sessions = realSessions();
      const token = await opened(sessions, undefined);
      expect(await opened(sessions, { hash: randomBytes(32), saysWhen: true })).toBe(token);
      await end(reason, LONG_AGO);
      expect(await pruned()).toBe(1);
      expect(await sessions.findCertain(token)).toEqual({ kind: 'unknown' });
      expect(await opened(sessions, undefined)).not.toBe(token);
    });

    it('keeps a revoked one while a request without a time could open another (I8)', async () => {
      const sessions = realSessions();
      const captured = { hash: randomBytes(32), saysWhen: false };
      const token = await opened(sessions, { hash: randomBytes(32), saysWhen: true });
      expect(await opened(sessions, captured)).toBe(token);
      expect(await opened(sessions, { hash: randomBytes(32), saysWhen: true })).toBe(token);
      await end('revoked', LONG_AGO);
      expect(await pruned()).toBe(0);
      expect(await sessions.open({ owner: journal.owner, ...ASKED }, captured)).toBeUndefined();
    });

    it('keeps one while a request with a time may still be taken (I8)', async () => {
      const sessions = realSessions();
      const captured = { hash: randomBytes(32), saysWhen: true };
      await opened(sessions, captured);
      await end('revoked', new Date().toISOString());
      const before = new Date(Date.now() + 1_000);
      expect(await pruned(false, before)).toBe(0);
      expect(await sessions.open({ owner: journal.owner, ...ASKED }, captured)).toBeUndefined();
    });

    it('keeps one that another release has given to a request since (I8)', async () => {
      await opened(realSessions(), undefined);
      await client.query(`UPDATE sessions SET given_to = ARRAY['\\x01'::bytea]`);
      await end('revoked', LONG_AGO);
      expect(await pruned()).toBe(0);
    });

    it.each(all)(
      'keeps one whose token is the operator’s own (%s): it could be learnt again (I8)',
      async (reason) => {
        const sessions = realSessions();
        const token = 'alpha.anns-own-token';
        const learn = () => sessions.learn(token, { owner: journal.owner, ...ASKED });
        expect(await learn()).toBeDefined();
        await end(reason, LONG_AGO);
        expect(await pruned()).toBe(0);
        expect(await learn()).toBeUndefined();
      },
    );

    it('keeps one that a bet still goes on with (I5)', async () => {
      await opened(realSessions(), undefined);
      const [id = ''] = await ids();
      await bet(id, 'none');
      await end('revoked', LONG_AGO);
      expect(await pruned()).toBe(0);
    });
  });

  it('gives no later session the token of one that is gone, which somebody may have kept (I8)', async () => {
    const sessions = realSessions();
    const open = () => opened(sessions, undefined);
    const tokens: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      tokens.push(await open());
      await client.query(`UPDATE sessions SET expires_at = '${LONG_AGO}'`);
      if (n > 0) expect(await pruned()).toBe(n === 1 ? 2 : 1);
    }
    expect(new Set(tokens).size).toBe(3);
    tokens.push(await open());
    expect(new Set(tokens).size).toBe(4);
    for (const gone of tokens.slice(0, 3)) {
      expect(await sessions.findCertain(gone)).toEqual({ kind: 'unknown' });
    }
    expect(await sessions.findCertain(tokens[3] ?? '')).toMatchObject({ kind: 'live' });
  });
});
