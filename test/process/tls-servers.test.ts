import { rm } from 'node:fs/promises';
import { Client } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { migrate } from '../../src/store/schema/migrate.ts';
import { chooseServerFolder, makeServerFolder, writeSecret } from '../../tools/embedded/folder.ts';
import { startPostgres } from '../../tools/embedded/postgres.ts';
import { createService } from '../../tools/simulator/service.ts';
import { freePort } from '../redis/support/redis-process.ts';
import { SERVICE_SECRET } from '../support/gateway.ts';
import { memoryFolder } from '../support/memory-folder.ts';
import { onRedis, privateRedis } from '../support/redis.ts';
import { AUTHORITY, SERVER } from '../wallets/support/private-authority.ts';
import { openDeployment } from './support/deployment.ts';

/** A certificate of a private authority, in files that the servers can read. */
async function certificateFiles() {
  const folder = await chooseServerFolder('certificate');
  await makeServerFolder(folder);
  onTestFinished(() => rm(folder.path, { recursive: true }));
  return {
    authority: await writeSecret(folder, 'authority.pem', AUTHORITY),
    certificate: await writeSecret(folder, 'server.pem', SERVER.cert),
    key: await writeSecret(folder, 'server.key', SERVER.key),
  };
}

type Files = Awaited<ReturnType<typeof certificateFiles>>;

async function startTlsPostgres({ certificate, key }: Files) {
  const postgres = await startPostgres({
    fast: true,
    root: await memoryFolder(),
    settings: { ssl: 'on', ssl_cert_file: certificate, ssl_key_file: key },
  });
  onTestFinished(() => postgres.stop());
  await migrate(postgres.url);
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  onTestFinished(() => client.end());
  return { url: `${postgres.url}?sslmode=verify-full`, client };
}

async function startTlsRedis({ authority, certificate, key }: Files) {
  const redis = await privateRedis();
  onTestFinished(() => redis.stop());
  const port = await freePort();
  await onRedis(redis.url, async (client) => {
    await client.config('SET', 'tls-cert-file', certificate, 'tls-key-file', key);
    await client.config('SET', 'tls-ca-cert-file', authority, 'tls-auth-clients', 'no');
    await client.config('SET', 'tls-port', port);
  });
  const url = new URL(redis.url);
  url.port = `${port}`;
  return { url: url.href.replace('redis:', 'rediss:'), plainUrl: redis.url, port };
}

it('all that a gateway says to PostgreSQL and Redis goes over TLS, where their addresses ask for it', async () => {
  const files = await certificateFiles();
  const postgres = await startTlsPostgres(files);
  const redis = await startTlsRedis(files);
  const deployment = await openDeployment({
    gateway: { delivery: { minBackoffMs: 50, maxBackoffMs: 200 } },
  });
  onTestFinished(() => deployment.close());
  const { baseUrl } = await deployment.replica({
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    NODE_EXTRA_CA_CERTS: files.authority,
  });

  const wallet = deployment.wallet('alpha');
  const service = createService({ baseUrl, secret: SERVICE_SECRET, retryScale: 0 });
  onTestFinished(() => service.close());
  const player = await deployment.player(baseUrl);
  const { transactionId } = await service.place({ ...player, amount: '10' });
  await wallet.down();
  expect((await service.rollback(transactionId)).kind).toBe('confirmed');
  await wallet.up();
  await wallet.waitFor(() => wallet.balance(player.user, 'USD') === '1000');

  const { rows } = await postgres.client.query<{ ssl: boolean }>(
    `SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
      WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
  expect(rows).toEqual([{ ssl: true }]);
  const clients = await onRedis(redis.plainUrl, (client) => client.client('LIST'));
  const ports = `${clients}`.matchAll(/ laddr=\S*:(\d+) .*cmd=(\S+)/g);
  const others = [...ports].filter(([, , command]) => command !== 'client|list');
  expect(new Set(others.map(([, port]) => port))).toEqual(new Set([`${redis.port}`]));
});
