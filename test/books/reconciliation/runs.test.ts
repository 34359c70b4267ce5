import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Incomparable } from '../../../src/books/reconciliation/incomparable.ts';
import { ReconciliationRun } from '../../../src/books/reconciliation/run.ts';
import { ReconciliationDifferences } from '../../../src/store/reconciliation/differences.ts';
import { ReconciliationRuns } from '../../../src/store/reconciliation/runs.ts';
import { wagergate } from '../../cli/command-line.ts';
import { BY } from '../../support/audit.ts';
import { placedBet, type TestBet } from '../../support/bet.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { onServer } from '../../support/server.ts';
import { bookAll, rowsOf } from '../support/kept-books.ts';
import { around, csvOf, HEADER, kindsOf, type Listed, listOf, reconcile } from './lists.ts';

const PROGRAM = fileURLToPath(new URL('../../../src/cli/wagergate.ts', import.meta.url));

let gateway: TestGateway;
let bets: TestBet[];
beforeAll(async () => {
  gateway = await startTestGateway({ operators: { alpha: {}, beta: {} } });
  bets = await Promise.all([1, 2, 3].map(() => placedBet(gateway, { amount: '10' })));
});
afterAll(() => gateway.close());

const honest = (operator = 'alpha') => listOf(gateway.wallet(operator));
const kept = () => ({
  runs: new ReconciliationRuns(gateway.parts.database),
  differences: new ReconciliationDifferences(gateway.parts.database),
});
const begin = (signal = new AbortController().signal) =>
  ReconciliationRun.begin(
    { ...kept(), databaseUrl: gateway.databaseUrl, signal },
    { operatorId: 'alpha', from: around(-1), to: around(1), timeZone: 'UTC', actor: 'ann' },
  );
const LIST = { names: new Map(), bytesMax: 10_000_000 };
async function* chunksOf(...texts: readonly string[]) {
  for (const text of texts) yield Buffer.from(text);
}
const without = (bet: TestBet | undefined) =>
  csvOf(honest().filter(({ transactionId }) => transactionId !== bet?.transactionId));
const leftovers = () =>
  rowsOf(
    gateway,
    `SELECT (SELECT count(*)::int FROM pg_class WHERE relname = 'listed') AS lists,
            (SELECT count(*)::int FROM reconciliation_found w JOIN reconciliations r
                 ON r.id = w.reconciliation_id WHERE r.state <> 'done') AS found`,
  );

describe('differences are worked off (I12)', () => {
  it('are carried to the next run: known, not new, and resolved once a person has seen to them', async () => {
    const [bet] = bets;
    const first = await reconcile(gateway, without(bet));
    expect(first.told).toMatchObject({ new: 1, differences: [{ known: false, resolution: null }] });
    const again = await reconcile(gateway, without(bet));
    expect(again).toMatchObject({ code: 3, told: { new: 0, differences: [{ known: true }] } });
    const id = again.told?.differences[0]?.id ?? '';
    expect(id).toBe(first.told?.differences[0]?.id);

    const { differences, runs } = kept();
    const runId = again.told?.id ?? '';
    const resolved = await differences.resolve(runId, id, BY);
    expect(resolved).toMatchObject({
      kind: 'resolved',
      item: { resolution: { by: 'ann', reason: 'OPS-17' } },
    });
    expect(await differences.resolve(runId, id, BY)).toEqual({ kind: 'resolvedBefore' });
    expect(await differences.resolve(runId, '999999', BY)).toEqual({ kind: 'missing' });
    for (const each of [first, again]) {
      const run = await runs.find(each.told?.id ?? '');
      expect(run?.open?.missing_there).toBe(0);
      expect(run?.counts?.missing_there).toBe(1);
    }
    const third = await reconcile(gateway, without(bet));
    expect(third).toMatchObject({
      code: 0,
      told: { new: 0, counts: { missing_there: 1 }, open: { missing_there: 0 } },
    });
    expect(third.told?.differences[0]?.resolution).not.toBeNull();
  });

  it('are audited, with who, why, before and after', async () => {
    const rows = await rowsOf(
      gateway,
      `SELECT actor, action, operator_id, reason, before, after FROM audit
        WHERE action = 'reconciliation.resolved'`,
    );
    const transactionId = bets[0]?.transactionId;
    expect(rows).toEqual([
      {
        actor: 'ann',
        action: 'reconciliation.resolved',
        operator_id: 'alpha',
        reason: 'OPS-17',
        before: { kind: 'missing_there', transactionId, resolved: false },
        after: { kind: 'missing_there', transactionId, resolved: true },
      },
    ]);
  });

  it('are listed, shown and resolved at the command line', async () => {
    const bet = await placedBet(gateway);
    const { told } = await reconcile(gateway, without(bet));
    const [run, difference] = [told?.id ?? '', told?.differences[0]?.id ?? ''];
    const cli = (...args: string[]) =>
      wagergate(['reconciliations', ...args], { env: { DATABASE_URL: gateway.databaseUrl } });
    const listed = await cli('list', '--operator', 'alpha');
    expect(listed.stdout).toMatch(new RegExp(`^ *${run} .* alpha .* done +1  cli:`, 'm'));
    expect((await cli('show', run)).stdout).toContain(`[${difference}] ${bet.transactionId}`);
    expect((await cli('resolve', run, difference, '--reason', ' ')).code).toBe(2);
    const reason = 'seen by the operator';
    expect(await cli('resolve', run, difference, '--reason', reason)).toMatchObject({ code: 0 });
    expect(await cli('resolve', run, difference, '--reason', reason)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('already'),
    });
    const shown = JSON.parse((await cli('show', run, '--json')).stdout);
    expect(shown).toMatchObject({
      open: { missing_there: 0 },
      differences: [{ resolution: { reason } }],
    });
    const failed = await reconcile(gateway, 'nothing\n');
    expect(failed.code).toBe(1);
    const [newest] = JSON.parse((await cli('list', '--json')).stdout);
    expect(await cli('show', newest.id)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('could not be compared'),
    });
    expect((await cli('show', '999999')).code).toBe(1);
    expect((await cli('show', 'x')).code).toBe(2);
  });

  it('are others where either list says something else', async () => {
    const listed = (payout: string) =>
      csvOf(honest().map((line, at): Listed => (at === 1 ? { ...line, payout } : line)));
    const [one, other, same] = [
      await reconcile(gateway, listed('1')),
      await reconcile(gateway, listed('2')),
      await reconcile(gateway, listed('1.00')),
    ];
    expect([one, other, same].map(({ told }) => told?.new)).toEqual([1, 1, 0]);
  });
});

describe('several runs', () => {
  it('at once do not see each other’s lists', async () => {
    await placedBet(gateway, { operatorId: 'beta' });
    const [all, two, three, beta] = await Promise.all([
      reconcile(gateway, csvOf(honest())),
      reconcile(gateway, without(bets[1])),
      reconcile(gateway, without(bets[2])),
      reconcile(gateway, csvOf(honest('beta')), { operator: 'beta' }),
    ]);
    expect([all.code, two.code, three.code, beta.code]).toEqual([0, 3, 3, 0]);
    expect(kindsOf(two.told)).toEqual([`missing_there ${bets[1]?.transactionId}`]);
    expect(kindsOf(three.told)).toEqual([`missing_there ${bets[2]?.transactionId}`]);
    expect(beta.told?.counts.agree).toBe(1);
  });
});

describe('a run that is cut short', () => {
  it('by kill -9 is never done, is put down as failed, and leaves nothing', async () => {
    const args = ['--operator', 'alpha', '--from', around(-1), '--to', around(1), '--file', '-'];
    const child = spawn(process.execPath, [PROGRAM, 'reconcile', ...args], {
      env: {
        PATH: process.env.PATH,
        DATABASE_URL: gateway.databaseUrl,
        GATEWAY_CONFIG: gateway.configFolder,
        SERVICE_SECRET: 'the-services-secret',
      },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const broken = Array.from({ length: 2_000 }, (_, at) => `broken-${at},a\n`).join('');
    child.stdin.write(`${csvOf(honest())}${broken}`);
    const running = () =>
      rowsOf(
        gateway,
        `SELECT id::text, state FROM reconciliations r WHERE state IN ('reading', 'comparing')
            AND EXISTS (SELECT 1 FROM reconciliation_found WHERE reconciliation_id = r.id)`,
      );
    const [run] = await vi.waitFor(
      async () => {
        const rows = await running();
        expect(rows).toHaveLength(1);
        return rows;
      },
      { timeout: 20_000, interval: 50 },
    );
    child.kill('SIGKILL');
    await once(child, 'exit');
    const { runs, differences } = kept();
    const id = String(run?.id);
    expect(await runs.find(id)).toMatchObject({ state: 'reading', counts: null });
    expect((await differences.list({ runId: id })).items).toEqual([]);
    expect(await runs.failLost()).toEqual([]);
    await onServer(gateway.databaseUrl, (client) =>
      client.query(
        `UPDATE reconciliations SET alive_at = alive_at - interval '61 s' WHERE id = $1`,
        [id],
      ),
    );
    expect(await runs.failLost()).toEqual([id]);
    expect(await runs.find(id)).toMatchObject({
      state: 'failed',
      why: expect.stringContaining('gone away'),
    });
    await vi.waitFor(async () => expect(await leftovers()).toEqual([{ lists: 0, found: 0 }]));
    const orphans = `SELECT 1 FROM reconciliation_differences WHERE kind = 'unreadable'`;
    expect(await rowsOf(gateway, orphans)).toEqual([]);
  });

  it('that froze and wakes when it was taken for gone writes nothing more', async () => {
    const run = await begin();
    await run.read(chunksOf(without(bets[0])), LIST);
    await onServer(gateway.databaseUrl, (client) =>
      client.query(
        `UPDATE reconciliations SET alive_at = alive_at - interval '1 h' WHERE id = $1`,
        [run.id],
      ),
    );
    const { runs } = kept();
    expect(await runs.failLost()).toEqual([run.id]);
    await expect(run.compare()).rejects.toThrow(/taken for gone/);
    expect(await runs.find(run.id)).toMatchObject({ state: 'failed', counts: null });
    expect(await leftovers()).toEqual([{ lists: 0, found: 0 }]);
  });

  it('leaves nothing either of what it was just writing when it was taken for gone', async () => {
    const list = `${csvOf(honest())}written-late,USD,1,1,odd\n`;
    await reconcile(gateway, list);
    const run = await begin();
    const aged = `UPDATE reconciliations SET alive_at = alive_at - interval '1 h' WHERE id = $1`;
    const waiting = `SELECT 1 FROM pg_stat_activity
                      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    const waitsFor = (count: number) =>
      vi.waitFor(async () => expect(await rowsOf(gateway, waiting)).toHaveLength(count), 10_000);
    const ended = await onServer(gateway.databaseUrl, async (client) => {
      await client.query(aged, [run.id]);
      await client.query('BEGIN');
      await client.query(`SELECT 1 FROM reconciliation_differences FOR UPDATE`);
      const reading = run.read(chunksOf(list), LIST).then(() => run.compare());
      await waitsFor(1);
      const { promise: over, resolve } = Promise.withResolvers();
      const lost = kept()
        .runs.failLost()
        .finally(() => resolve(undefined));
      await Promise.race([over, waitsFor(2)]);
      await client.query('COMMIT');
      return Promise.allSettled([reading, lost]);
    });
    expect(ended).toMatchObject([{ status: 'rejected' }, { value: [run.id] }]);
    expect(await leftovers()).toEqual([{ lists: 0, found: 0 }]);
  });

  it('does not take away what another run has found meanwhile, and which is then known', async () => {
    const list = `${csvOf(honest())}found-by-both,USD,1,1,odd\n`;
    const stop = new AbortController();
    const first = await begin(stop.signal);
    await first.read(chunksOf(list), LIST);
    expect((await reconcile(gateway, list)).told).toMatchObject({
      new: 1,
      counts: { unreadable: 1 },
    });
    stop.abort();
    await expect(first.compare()).rejects.toThrow();
    expect(await kept().runs.find(first.id)).toMatchObject({ state: 'failed' });
    const { told } = await reconcile(gateway, list);
    expect(told).toMatchObject({ new: 0, differences: [{ known: true }] });
  });

  it('by whoever started it ends at once, whatever it is doing', async () => {
    const stop = new AbortController();
    const run = await begin(stop.signal);
    async function* endless() {
      yield Buffer.from(csvOf(honest()));
      stop.abort();
      for (;;) yield Buffer.from('x,USD,1,1,placed\n'.repeat(1_000));
    }
    await expect(run.read(endless(), LIST)).rejects.toThrow();
    expect(await kept().runs.find(run.id)).toMatchObject({ why: 'it was broken off' });
  });

  it('because its list is too large is not compared, packed or not', async () => {
    const run = await begin();
    const rows = 'x,USD,1,1,placed\n'.repeat(1_000);
    const reading = run.read(chunksOf(`${HEADER}\n`, rows, rows), { ...LIST, bytesMax: 20_000 });
    await expect(reading).rejects.toThrow(Incomparable);
    expect(await kept().runs.find(run.id)).toMatchObject({
      state: 'failed',
      why: expect.stringContaining('larger than'),
    });
  });
});

describe('a list that comes slowly', () => {
  it('does not hold the books, which read no further than the oldest writer', async () => {
    const run = await begin();
    const seen: number[] = [];
    async function* slow() {
      yield Buffer.from(`${HEADER}\n${'x,USD,1,1,placed\n'.repeat(12_000)}`);
      await placedBet(gateway);
      seen.push(await bookAll(gateway));
      yield Buffer.from('y,USD,1,1,placed\n');
    }
    await run.read(slow(), LIST);
    expect(seen[0]).toBeGreaterThan(0);
    expect(await run.compare()).toMatchObject({ duplicate_there: 1, missing_here: 1 });
  });
});
