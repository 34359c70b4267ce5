import dns from 'node:dns';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openLongConnection } from '../../../src/store/server/connection.ts';
import { createDatabase } from '../../support/database.ts';
import { limitedRole } from '../../support/limited-role.ts';
import { rowsOf } from '../../support/server.ts';
import { openServerPair } from '../../support/server-pair.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';

const PATIENCE = { silentMs: 100, answerMs: 2_000 };
const HASTY = { silentMs: 100, answerMs: 100 };

let directUrl: string;
let url: string;
let proxy: TcpProxy;
beforeEach(async () => {
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  directUrl = database.url;
  ({ proxy, url } = await throughProxy(directUrl));
});

async function throughProxy(to: string): Promise<{ proxy: TcpProxy; url: string }> {
  const { hostname, port } = new URL(to);
  const started = await startTcpProxy({ host: hostname, port: Number(port) });
  onTestFinished(() => started.close());
  const through = new URL(to);
  through.port = String(started.port);
  return { proxy: started, url: through.href };
}

async function openSession(at = url) {
  const client = await openLongConnection({ url: at }, 'test', PATIENCE);
  onTestFinished(() => client.end());
  return client;
}

describe('a statement that is sent into a network that swallows it', () => {
  it('fails once the server has no such session any more, though other connections come through', async () => {
    const client = await openSession();
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    proxy.strand();
    const asked = client.query('SELECT 1');
    // As the server itself does after 70 s (`tcp_user_timeout`).
    await rowsOf(directUrl, `SELECT pg_terminate_backend(${rows[0]?.pid})`);
    await expect(asked).rejects.toThrow(
      'PostgreSQL has no such session any more: what was under way may have taken effect or not',
    );
  });

  it('fails if nothing comes from the server at all', async () => {
    const client = await openLongConnection({ url }, 'test', HASTY);
    onTestFinished(() => client.end());
    proxy.freeze();
    await expect(client.query('SELECT 1')).rejects.toThrow('nothing has come from PostgreSQL for');
  });
});

describe('a statement that takes long', () => {
  it('is waited for as long as the server has its session', async () => {
    const client = await openSession();
    const { rows } = await client.query(`SELECT 'slept' || pg_sleep(1.2) AS told`);
    expect(rows).toEqual([{ told: 'slept' }]);
  });

  it('is waited for where the server gives no further connection that could ask', async () => {
    const limited = await limitedRole(directUrl, 1);
    const client = await openSession(limited.url);
    const { rows } = await client.query(`SELECT 'slept' || pg_sleep(1.2) AS told`);
    expect(rows).toEqual([{ told: 'slept' }]);
  });

  it('is waited for where further connections are refused: by a load balancer, say, that is just being replaced', async () => {
    const client = await openSession();
    proxy.refuse();
    const { rows } = await client.query(`SELECT 'slept' || pg_sleep(1.2) AS told`);
    expect(rows).toEqual([{ told: 'slept' }]);
  });

  it('is waited for where further connections are broken before a byte came', async () => {
    const client = await openSession();
    proxy.breakNew();
    const { rows } = await client.query(`SELECT 'slept' || pg_sleep(1.2) AS told`);
    expect(rows).toEqual([{ told: 'slept' }]);
  });

  it('is waited for where nobody says any more where the name of the server leads', async () => {
    const named = new URL(url);
    named.hostname = 'localhost';
    const client = await openLongConnection({ url: named.href }, 'test', HASTY);
    onTestFinished(() => client.end());
    const lookup = vi.spyOn(dns, 'lookup').mockReturnValue(undefined);
    onTestFinished(() => lookup.mockRestore());
    const { rows } = await client.query(`SELECT 'slept' || pg_sleep(2) AS told`);
    expect(rows).toEqual([{ told: 'slept' }]);
  });

  it('is waited for where its address leads further connections to a standby, which cannot say', async () => {
    const { standby, gateway, pointTo } = await openServerPair(false);
    const client = await openSession(gateway.databaseUrl);
    pointTo(standby);
    const { rows } = await client.query(`SELECT 'slept' || pg_sleep(1.2) AS told`);
    expect(rows).toEqual([{ told: 'slept' }]);
  });
});

describe('the question on another connection', () => {
  it('ends with the session that it is about', async () => {
    const client = await openLongConnection({ url }, 'test', { silentMs: 100, answerMs: 60_000 });
    const asked = proxy.holdRequest('pg_is_in_recovery');
    await asked.stopped;
    await client.end();
    await expect.poll(() => proxy.connections, { timeout: 5_000 }).toBe(0);
  });

  it('is asked again, though the network swallowed the end of the last one', async () => {
    const client = await openSession();
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const heard = proxy.holdAnswer('may_live');
    await heard.answered;
    proxy.strand();
    heard.release();
    const asked = client.query('SELECT 1');
    await rowsOf(directUrl, `SELECT pg_terminate_backend(${rows[0]?.pid})`);
    await expect(asked).rejects.toThrow('PostgreSQL has no such session any more');
  });
});
