import { onTestFinished } from 'vitest';
import { migrate } from '../../src/store/schema/migrate.ts';
import { startPostgres } from '../../tools/embedded/postgres.ts';
import type { EmbeddedServer } from '../../tools/embedded/server.ts';
import { startTestGateway } from './gateway.ts';
import { memoryFolder } from './memory-folder.ts';
import { startStandby } from './standby.ts';
import { startTcpProxy } from './tcp-proxy.ts';

/**
 * A gateway with two servers behind one address, which leads to the primary; it is closed after the test.
 * @param isBehind the standby receives nothing that the gateway writes
 */
export async function openServerPair(isBehind: boolean) {
  const primary = await startPostgres({ root: await memoryFolder() });
  onTestFinished(() => primary.stop());
  await migrate(primary.url);
  const standby = await startStandby(primary, { isBehind });
  onTestFinished(() => standby.stop());
  const target = { host: '127.0.0.1', port: primary.port };
  const proxy = await startTcpProxy(target);
  onTestFinished(() => proxy.close());
  const gateway = await startTestGateway({
    through: async ({ redisUrl }) => {
      const url = new URL(primary.url);
      url.host = `127.0.0.1:${proxy.port}`;
      return { redisUrl, databaseUrl: url.href };
    },
  });
  onTestFinished(() => gateway.close());
  return {
    primary,
    standby,
    gateway,
    /** New connections go to this server from now on; existing ones stay, as if nobody ended the server before. */
    pointTo: (server: Pick<EmbeddedServer, 'port'>) => {
      target.port = server.port;
    },
    /** The address leads to this server from now on; all connections break. */
    lead: (server: Pick<EmbeddedServer, 'port'>) => {
      target.port = server.port;
      proxy.reset();
    },
    takesWrites: () => gateway.parts.database.takesWrites().catch(() => undefined),
  };
}
