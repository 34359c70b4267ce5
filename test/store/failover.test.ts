import { describe, expect, it, onTestFinished } from 'vitest';
import { migrate } from '../../src/store/schema/migrate.ts';
import { startPostgres } from '../../tools/embedded/postgres.ts';
import type { EmbeddedServer } from '../../tools/embedded/server.ts';
import { placedBet } from '../support/bet.ts';
import { startTestGateway } from '../support/gateway.ts';
import { memoryFolder } from '../support/memory-folder.ts';
import { startStandby } from '../support/standby.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { PATIENT_MS } from '../support/timing.ts';

const PATIENT = { timeout: PATIENT_MS };

/** Two servers behind one address, which leads to the primary. */
async function openPair(isBehind: boolean) {
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
  const takesWrites = () => gateway.parts.database.takesWrites().catch(() => undefined);
  return {
    primary,
    standby,
    gateway,
    /** The address leads to this one from now on; all connections break. */
    lead: async (server: EmbeddedServer, { writes }: { readonly writes: boolean }) => {
      target.port = server.port;
      proxy.reset();
      await expect.poll(takesWrites, PATIENT).toBe(writes);
    },
    untilTaking: () => expect.poll(takesWrites, PATIENT).toBe(true),
    lost: () => gateway.metric('gateway_lost_commits_total'),
  };
}

describe('a failover', { timeout: 120_000 }, () => {
  it('to a standby that has everything is not spoken of, and bets go on', async () => {
    const { primary, standby, gateway, lead, untilTaking, lost } = await openPair(false);
    await placedBet(gateway, { amount: '10' });
    await expect.poll(standby.isLevel, PATIENT).toBe(true);
    await primary.kill('SIGQUIT');
    await lead(standby, { writes: false });
    await standby.promote();
    await untilTaking();
    await placedBet(gateway, { amount: '10' });
    expect(await lost()).toBe(0);
  });

  it('to one that was behind is told of, and so is the old server where it comes back (I3)', async () => {
    const { primary, standby, gateway, lead, untilTaking, lost } = await openPair(true);
    await placedBet(gateway, { amount: '10' });
    await primary.kill('SIGQUIT');
    await lead(standby, { writes: false });
    // It may still receive what it lacks.
    expect(await lost()).toBe(0);
    await standby.promote();
    await untilTaking();
    await expect.poll(lost, PATIENT).toBe(1);

    await placedBet(gateway, { amount: '10' });
    await primary.restart();
    await lead(primary, { writes: true });
    await expect.poll(lost, PATIENT).toBe(2);
  });
});
