import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres } from '../../../tools/embedded/postgres.ts';
import type { EmbeddedServer } from '../../../tools/embedded/server.ts';
import { onServer } from '../../support/server.ts';
import { isAlive, useOwnTemporaryFolder } from './support/scratch.ts';

const temporary = useOwnTemporaryFolder();

async function value(server: EmbeddedServer, sql: string): Promise<unknown> {
  const { rows } = await onServer(server.url, (client) => client.query<{ value: unknown }>(sql));
  return rows[0]?.value;
}

const setting = (server: EmbeddedServer, name: string) =>
  value(server, `SELECT current_setting('${name}') AS value`);

describe('an embedded PostgreSQL', () => {
  let server: EmbeddedServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  it('is durable, UTF8 and reachable on 127.0.0.1 alone', async () => {
    expect(await setting(server, 'fsync')).toBe('on');
    expect(await setting(server, 'synchronous_commit')).toBe('on');
    expect(await setting(server, 'server_encoding')).toBe('UTF8');
    expect(await setting(server, 'listen_addresses')).toBe('127.0.0.1');
    expect(await setting(server, 'unix_socket_directories')).toBe('');
    expect(await setting(server, 'max_connections')).toBe('200');
  });

  it('asks for its password', async () => {
    const url = new URL(server.url);
    url.password = 'guess';
    const client = new Client({ connectionString: url.href });
    await expect(client.connect()).rejects.toThrow('password authentication failed');
  });

  it('keeps what was committed over a kill and over a restart, on the same port', async () => {
    const before = { pid: server.pid, url: server.url };
    await onServer(server.url, (client) => client.query('CREATE TABLE kept (at int)'));
    await onServer(server.url, (client) => client.query('INSERT INTO kept VALUES (1)'));
    await server.kill();
    expect(isAlive(before.pid)).toBe(false);
    await server.restart();
    await onServer(server.url, (client) => client.query('INSERT INTO kept VALUES (2)'));
    await server.restart();
    expect(await value(server, 'SELECT count(*)::int AS value FROM kept')).toBe(2);
    expect(server.url).toBe(before.url);
    expect(server.pid).not.toBe(before.pid);
  });

  it('runs beside another one with other data and settings; fast, sessions see no difference', async () => {
    const other = await startPostgres({ fast: true, settings: { max_connections: '20' } });
    try {
      await onServer(other.url, (client) => client.query('CREATE TABLE only_there ()'));
      const there = `SELECT to_regclass('only_there') IS NOT NULL AS value`;
      expect(await value(other, there)).toBe(true);
      expect(await value(server, there)).toBe(false);
      expect(await setting(other, 'max_connections')).toBe('20');
      expect(await setting(other, 'fsync')).toBe('off');
      expect(await setting(other, 'synchronous_commit')).toBe('on');
    } finally {
      await other.stop();
    }
  });

  it('leaves no process and no folder when it is stopped, also twice or with clients', async () => {
    const before = await temporary.leftovers();
    const other = await startPostgres({ fast: true });
    expect(await temporary.leftovers()).toHaveLength(before.length + 1);
    const client = new Client({ connectionString: other.url });
    const cut = new Promise((resolve) => client.once('error', resolve));
    await client.connect();
    await Promise.all([other.stop(), other.stop()]);
    await cut;
    expect(isAlive(other.pid)).toBe(false);
    expect(await temporary.leftovers()).toEqual(before);
  });

  it('says why it does not start, and leaves nothing behind', async () => {
    const before = await temporary.leftovers();
    await expect(startPostgres({ settings: { max_connections: 'many' } })).rejects.toThrow(
      /PostgreSQL did not start: .*max_connections/,
    );
    expect(await temporary.leftovers()).toEqual(before);
  });
});
