import { expect, it } from 'vitest';
import { ADMIN_TOKEN, ask } from '../admin/support/admin.ts';
import { startTestGateway } from '../support/gateway.ts';
import { connect } from '../support/server.ts';

const PATIENT = { timeout: 15_000, interval: 100 };

it('is not ready while PostgreSQL takes no writes, and is again by itself', async (context) => {
  const gateway = await startTestGateway({ env: { ADMIN_TOKEN } });
  context.onTestFinished(() => gateway.close());
  const { app, readiness } = gateway.parts.adminServer();
  context.onTestFinished(() => app.close());
  readiness.started();
  const adminUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  const ready = async () => {
    const answer = await fetch(`${adminUrl}/health/ready`);
    return [answer.status, await answer.json()];
  };
  const gauge = async () =>
    /^gateway_postgresql_up (\d)$/m.exec(await (await fetch(`${adminUrl}/metrics`)).text())?.[1];
  const reply = (status: string, postgresql: string) => ({
    status,
    dependencies: { postgresql, redis: 'up' },
  });
  await expect.poll(ready, PATIENT).toEqual([200, reply('ready', 'up')]);

  const name = new URL(gateway.databaseUrl).pathname.slice(1);
  const client = await connect(gateway.databaseUrl);
  context.onTestFinished(() => client.end());
  // The effect of a failover on connections: all end, and new ones to a standby can only read.
  const turn = async (value: 'on' | 'off') => {
    await client.query(`ALTER DATABASE "${name}" SET default_transaction_read_only = ${value}`);
    if (value === 'off') return;
    await client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
  };
  await turn('on');
  await expect.poll(ready, PATIENT).toEqual([503, reply('unavailable', 'read_only')]);
  await expect.poll(gauge, PATIENT).toBe('0');
  // The rows of the operators are read, and look well.
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const { json } = await ask(`${adminUrl}/admin/operators`, { headers });
  expect(json.dependencies).toEqual({ postgresql: 'read_only', redis: 'up' });

  // Nobody ends these connections: the gateway does not keep one that can only read.
  await turn('off');
  await expect.poll(ready, PATIENT).toEqual([200, reply('ready', 'up')]);
  await expect.poll(gauge, PATIENT).toBe('1');
}, 60_000);
