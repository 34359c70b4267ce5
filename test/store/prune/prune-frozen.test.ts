import { afterAll, beforeAll, expect, it } from 'vitest';
import { prune } from '../../../src/store/prune/prune.ts';
import { placedBet } from '../../support/bet.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { rowsOf } from '../../support/server.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';

const OPTIONS = { before: new Date('2026-02-01'), isDryRun: false, log: () => undefined };

let gateway: TestGateway;
let proxy: TcpProxy;
/** The same database, by a connection that the test can freeze. */
let databaseUrl: string;
beforeAll(async () => {
  gateway = await startTestGateway();
  proxy = await startTcpProxy(gateway.databaseUrl);
  databaseUrl = proxy.through(gateway.databaseUrl);
});
afterAll(async () => {
  await proxy.close();
  await gateway.close();
});

// The process is stopped before it sends the statement: Ctrl-Z, a laptop that is closed, a network that is lost.
it.each([
  'CREATE TEMP TABLE kept_bets',
  'UPDATE books_cursor',
  'DROP TABLE operations',
  'INSERT INTO operations',
  'INSERT INTO attempts',
  'COMMIT',
  'DROP TABLE kept_operations',
])('callbacks go on although pruning freezes before %s (I1)', async (words) => {
  await rowsOf(gateway.databaseUrl, "SELECT journal_prepare_month('2026-01-10')");
  const held = proxy.holdRequest(words);
  const pruned = prune(databaseUrl, OPTIONS);
  await held.stopped;
  const bet = await placedBet(gateway, { amount: '10' });
  expect((await bet.settle('20')).status).toBe(200);
  held.release();
  expect((await pruned).months).toMatchObject([{ month: '2026-01', result: 'dropped' }]);
});

it('says what broke its connection in the middle, and leaves everything as it was', async () => {
  await rowsOf(gateway.databaseUrl, "SELECT journal_prepare_month('2026-01-10')");
  const held = proxy.holdRequest('DROP TABLE operations');
  const failed = expect(prune(databaseUrl, OPTIONS)).rejects.toThrow(/ECONNRESET|terminated/);
  await held.stopped;
  held.swallow();
  await failed;
  const there = "SELECT to_regclass('operations_2026_01') IS NOT NULL AS is";
  expect(await rowsOf(gateway.databaseUrl, there)).toEqual([{ is: true }]);
});
