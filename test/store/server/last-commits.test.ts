import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { GatewayError } from '../../../src/domain/errors.ts';
import type { Database } from '../../../src/store/database.ts';
import { migrate } from '../../../src/store/schema/migrate.ts';
import {
  LastCommits,
  type Missed,
  type ReportedCommit,
} from '../../../src/store/server/last-commits.ts';
import { startPostgres } from '../../../tools/embedded/postgres.ts';
import { startBonusGateway } from '../../bonuses/support/bonus-gateway.ts';
import { placedBet } from '../../support/bet.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { partly } from '../../support/partly.ts';
import { onServer } from '../../support/server.ts';

/** A gateway on its own server, which may lose what it had committed. */
async function gatewayOnOwnServer() {
  const postgres = await startPostgres({ fast: true });
  onTestFinished(() => postgres.stop());
  await migrate(postgres.url);
  const gateway = await startTestGateway({
    through: async ({ redisUrl }) => ({ redisUrl, databaseUrl: postgres.url }),
  });
  onTestFinished(() => gateway.close());
  return { postgres, gateway };
}

/** The server returns, as after a failover, without what these statements delete. */
async function comeBack(
  { postgres, gateway }: Awaited<ReturnType<typeof gatewayOnOwnServer>>,
  ...without: readonly string[]
): Promise<void> {
  await onServer(postgres.url, async (client) => {
    for (const one of without) await client.query(one);
  });
  await postgres.restart();
  await expect.poll(() => gateway.parts.database.takesWrites().catch(() => false)).toBe(true);
}

const lost = (gateway: TestGateway) => gateway.metric('gateway_lost_commits_total');

describe('a server that comes back', () => {
  it('with everything is not spoken of', async () => {
    const site = await gatewayOnOwnServer();
    await placedBet(site.gateway, { amount: '10' });
    await comeBack(site);
    await placedBet(site.gateway, { amount: '10' });
    expect(await lost(site.gateway)).toBe(0);
  });

  it.each([
    ['the last bet', ['DELETE FROM attempts', 'DELETE FROM operations', 'DELETE FROM bets']],
    ['the last outcome', ['DELETE FROM attempts']],
  ])('without %s is told of, once, and takes bets (I3)', async (_, without) => {
    const site = await gatewayOnOwnServer();
    await placedBet(site.gateway, { amount: '10' });
    await comeBack(site, ...without);
    await expect.poll(() => lost(site.gateway)).toBe(1);
    await placedBet(site.gateway, { amount: '10' });
    await comeBack(site);
    await placedBet(site.gateway, { amount: '10' });
    expect(await lost(site.gateway)).toBe(1);
  });
});

it('a server that returns without the last bonus call is reported too: its template would have no owner (I3)', async () => {
  const postgres = await startPostgres({ fast: true });
  onTestFinished(() => postgres.stop());
  await migrate(postgres.url);
  const site = await startBonusGateway({ throughDatabase: async () => postgres.url });
  onTestFinished(() => site.close());
  const { gateway } = site;
  await site.template(site.alpha);
  await comeBack({ postgres, gateway });
  expect(await lost(gateway)).toBe(0);
  await site.template(site.alpha, { name: 'another' });
  await comeBack({ postgres, gateway }, 'DELETE FROM bonus_templates', 'DELETE FROM bonus_intents');
  await expect.poll(() => lost(gateway)).toBe(1);
});

describe('the last commits', () => {
  const ANEW = ['2026-11-25 01:00:00+00', '2026-11-25 02:00:00+00', '2026-11-25 03:00:00+00'];

  /** A server's answers, one for each question; the last one answers all further ones. */
  function commitsOn(...answers: readonly (readonly boolean[] | Error)[]) {
    const told = vi.fn<(missed: Missed) => void>();
    const run = vi.fn(async () => {
      const answer = answers[Math.min(run.mock.calls.length, answers.length) - 1];
      if (answer instanceof Error) throw answer;
      return [...(answer ?? [])];
    });
    const database = partly<Pick<Database, 'run'>>({ run });
    const commits = new LastCommits(() => database, told, [0, 1, 1]);
    const meet = (at: number, isStandby = false) =>
      commits.foundServer({ startedAt: ANEW[at] ?? '', isStandby });
    return { commits, run, told, meet };
  }

  it('are not looked for on the first server, nor on each connection to the same', async () => {
    const { commits, run, meet } = commitsOn([true]);
    meet(0);
    commits.began('1');
    meet(0);
    meet(1);
    meet(1);
    await vi.waitFor(() => expect(run).toHaveBeenCalled());
    meet(1);
    expect(run).toHaveBeenCalledTimes(1);
  });

  it('are looked for on a standby only once it is one no more: it may just be behind', async () => {
    const { commits, run, told, meet } = commitsOn([true]);
    meet(0);
    commits.began('1');
    meet(1, true);
    expect(run).not.toHaveBeenCalled();
    meet(1);
    await vi.waitFor(() => expect(run).toHaveBeenCalledTimes(1));
    expect(told).not.toHaveBeenCalled();
  });

  it('are those of before a standby, also where a connection to that writes once it is one no more', async () => {
    const asked: string[] = [];
    const told = vi.fn<(missed: Missed) => void>();
    const run = async (_: unknown, { operationId }: ReportedCommit) => {
      asked.push(operationId);
      return [operationId !== '1'];
    };
    const commits = new LastCommits(() => partly<Pick<Database, 'run'>>({ run }), told, [0]);
    commits.foundServer({ startedAt: '1', isStandby: false });
    commits.began('1');
    commits.foundServer({ startedAt: '2', isStandby: true });
    commits.began('2');
    commits.foundServer({ startedAt: '2', isStandby: false });
    await vi.waitFor(() => expect(told).toHaveBeenCalledTimes(1));
    expect(told.mock.calls[0]?.[0]).toMatchObject({ kind: 'lost', commit: { operationId: '1' } });
    // What the new server has reported is looked for at the next one, whether there was a loss or not.
    asked.splice(0);
    commits.foundServer({ startedAt: '3', isStandby: false });
    await vi.waitFor(() => expect(asked).toEqual(['2']));
  });

  it('are looked for again where PostgreSQL goes once more meanwhile', async () => {
    const away = new GatewayError('DATABASE_UNAVAILABLE', 'gone');
    const { commits, told, meet } = commitsOn(away, away, [false]);
    meet(0);
    commits.began('7');
    meet(1);
    await vi.waitFor(() => expect(told).toHaveBeenCalled());
    expect(told.mock.calls).toEqual([
      [{ kind: 'lost', commit: { operationId: '7', startedAtMs: undefined } }],
    ]);
  });

  it('that cannot be checked are reported as such', async () => {
    const error = new Error('permission denied');
    const { commits, told, meet } = commitsOn(error);
    meet(0);
    commits.finished('7', 1);
    meet(1);
    await vi.waitFor(() => expect(told).toHaveBeenCalled());
    expect(told.mock.calls).toEqual([[{ kind: 'unknown', error }]]);
  });
});
