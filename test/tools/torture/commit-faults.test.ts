import { randomUUID } from 'node:crypto';
import { Client, DatabaseError } from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { COMMIT_FAULTS, type CommitFault } from '../../../tools/torture/plan/plan.ts';
import { LinkProxy } from '../../../tools/torture/world/link-proxy.ts';
import { createBareDatabase, type TestDatabase } from '../../support/database.ts';

/** The result of a statement under each fault: its SQLSTATE, or that the connection is gone. */
const FATES: Readonly<Record<CommitFault, { readonly told: string; readonly isKept: boolean }>> = {
  holdCommit: { told: 'done', isKept: true },
  conflict: { told: '40001', isKept: false },
  deadlock: { told: '40P01', isKept: false },
  conflictAtCommit: { told: '40001', isKept: false },
  loseBeforeCommit: { told: 'gone', isKept: false },
  loseAtCommit: { told: 'gone', isKept: true },
};

/** A server ends a session only when it gets round to it. */
const PATIENCE = { timeout: 15_000 };

describe('a fault at the commit of a real PostgreSQL', () => {
  let database: TestDatabase;
  let proxy: LinkProxy;
  /** One through the proxy, one directly. */
  let near: Client;
  let direct: Client;

  beforeEach(async () => {
    database = await createBareDatabase();
    direct = new Client({ connectionString: database.url });
    await direct.connect();
    await direct.query('CREATE TABLE words (word text)');
    const url = new URL(database.url);
    proxy = new LinkProxy({ host: url.hostname, port: Number(url.port) });
    await proxy.up();
    url.hostname = '127.0.0.1';
    url.port = String(proxy.port);
    near = new Client({ connectionString: url.href });
    near.on('error', () => undefined);
    await near.connect();
  });
  afterEach(async () => {
    await near.end().catch(() => undefined);
    await direct.end();
    await proxy.cut();
    await database.drop();
  });

  const write = (word: string) =>
    near.query({ name: 'write', text: 'INSERT INTO words VALUES ($1)', values: [word] });
  const told = async (asked: Promise<unknown>): Promise<string> =>
    await asked.then(
      () => 'done',
      (error) => (error instanceof DatabaseError ? (error.code ?? '') : 'gone'),
    );
  const count = async (word: string) => {
    const { rows } = await direct.query('SELECT FROM words WHERE word = $1', [word]);
    return rows.length;
  };
  /** Nobody else is connected any more: everything under way is over. */
  const isAlone = () =>
    vi.waitFor(async () => {
      const { rows } = await direct.query(
        'SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
      );
      expect(rows).toEqual([]);
    }, PATIENCE);
  /** @returns how often the fault has hit something */
  function aim(fault: CommitFault, word: string): () => number {
    let times = 0;
    proxy.watch(word, (link) => {
      proxy.unwatch(word);
      link.suffer(fault, 0, () => {
        times += 1;
      });
    });
    return () => times;
  }

  it.each(COMMIT_FAULTS)('%s: of a statement that is its own transaction', async (fault) => {
    const { isKept, told: expected } = FATES[fault];
    const word = randomUUID();
    const came = aim(fault, word);
    expect(await told(write(word))).toBe(expected);
    if (expected === 'gone') await isAlone();
    expect(await count(word)).toBe(isKept ? 1 : 0);
    expect(came()).toBe(1);
  });

  it.each(COMMIT_FAULTS)('%s: of a transaction in words, when it is committed', async (fault) => {
    const { isKept, told: expected } = FATES[fault];
    const word = randomUUID();
    await near.query('BEGIN');
    const came = aim(fault, word);
    expect(await told(write(word))).toBe('done');
    expect(came()).toBe(0);
    // An explicit COMMIT has only one kind of refusal.
    const inWords = expected.startsWith('4') ? '40001' : expected;
    expect(await told(near.query('COMMIT'))).toBe(inWords);
    if (expected === 'gone') await isAlone();
    expect(await count(word)).toBe(isKept ? 1 : 0);
    expect(came()).toBe(1);
  });

  it('holdCommit: is executed, and not visible before its time is over', async () => {
    const word = randomUUID();
    proxy.watch(word, (link) => link.suffer('holdCommit', 1_000));
    const writing = write(word);
    const waits = async () => {
      const { rows } = await direct.query(
        "SELECT FROM pg_locks WHERE relation = 'words'::regclass AND mode = 'RowExclusiveLock'",
      );
      expect(rows).toHaveLength(1);
    };
    await vi.waitFor(waits, PATIENCE);
    expect(await count(word)).toBe(0);
    await writing;
    expect(await count(word)).toBe(1);
  });

  it.each(['conflict', 'deadlock', 'conflictAtCommit'] as const)(
    '%s: the session goes on, its kept statements included',
    async (fault) => {
      const [word, other] = [randomUUID(), randomUUID()];
      aim(fault, word);
      expect(await told(write(word))).not.toBe('done');
      expect(await told(write(other))).toBe('done');
      expect(await told(write(word))).toBe('done');
      expect([await count(word), await count(other)]).toEqual([1, 1]);
    },
  );
});
