import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Reconciler } from '../../../src/books/reconciliation/reconciler.ts';
import { loadConfiguration } from '../../../src/config/loader.ts';
import { placedBet, type TestBet } from '../../support/bet.ts';
import { COMPILED } from '../../support/compiled.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { onServer } from '../../support/server.ts';
import { PATIENT_MS } from '../../support/timing.ts';
import { rowsOf } from '../support/kept-books.ts';
import { around, csvOf, listOf, reconcile } from './support/lists.ts';
import { begin, chunksOf, kept, LIST, PLAN } from './support/own-runs.ts';

const SERVICE_SECRET = 'the-services-secret';
const PROGRAM = fileURLToPath(new URL('../../../src/cli/wagergate.ts', import.meta.url));

const NO_BETS = {
  agree: 0,
  missing_there: 0,
  missing_here: 0,
  amount_differs: 0,
  state_differs: 0,
  currency_differs: 0,
  duplicate_there: 0,
  unreadable: 0,
};

let gateway: TestGateway;
let bets: TestBet[];
beforeAll(async () => {
  gateway = await startTestGateway({ operators: { alpha: {} } });
  bets = await Promise.all([1, 2, 3].map(() => placedBet(gateway, { amount: '10' })));
});
afterAll(() => gateway.close());

const honest = () => listOf(gateway.wallet('alpha'));
const without = (bet: TestBet | undefined) =>
  csvOf(honest().filter(({ transactionId }) => transactionId !== bet?.transactionId));
const leftovers = () =>
  rowsOf(
    gateway,
    `SELECT (SELECT count(*)::int FROM pg_class WHERE relname = 'listed') AS lists,
            (SELECT count(*)::int FROM reconciliation_found w JOIN reconciliations r
                 ON r.id = w.reconciliation_id WHERE r.state <> 'done') AS found`,
  );

/** Starts `wagergate reconcile` in its own process with the list still to come; and reads the runs under way. */
function startReconcile(which = '') {
  const args = ['--operator', 'alpha', '--from', around(-1), '--to', around(1), '--file', '-'];
  const child = spawn(process.execPath, [PROGRAM, 'reconcile', ...args], {
    env: {
      PATH: process.env.PATH,
      ...COMPILED,
      DATABASE_URL: gateway.databaseUrl,
      GATEWAY_CONFIG: gateway.configFolder,
      SERVICE_SECRET,
    },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const running = () =>
    rowsOf(
      gateway,
      `SELECT id::text, state FROM reconciliations r
        WHERE state IN ('reading', 'comparing') AND why IS NULL ${which}`,
    );
  return { child, running };
}

describe('a run that is cut short', () => {
  it('by kill -9 is never done, is put down as failed, and leaves nothing', async () => {
    const { child, running } = startReconcile(
      'AND EXISTS (SELECT 1 FROM reconciliation_found WHERE reconciliation_id = r.id)',
    );
    const broken = Array.from({ length: 2_000 }, (_, at) => `broken-${at},a\n`).join('');
    child.stdin.write(`${csvOf(honest())}${broken}`);
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
    const { runs, differences } = kept(gateway);
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
    await expect.poll(leftovers).toEqual([{ lists: 0, found: 0 }]);
    const orphans = `SELECT 1 FROM reconciliation_differences WHERE kind = 'unreadable'`;
    expect(await rowsOf(gateway, orphans)).toEqual([]);
  });

  it('that froze and wakes when it was taken for gone writes nothing more', async () => {
    // Otherwise its heartbeat would continue after it was dated back.
    vi.useFakeTimers({ toFake: ['setInterval'] });
    const run = await begin(gateway).finally(() => vi.useRealTimers());
    await run.read(chunksOf(without(bets[0])), LIST);
    await onServer(gateway.databaseUrl, (client) =>
      client.query(
        `UPDATE reconciliations SET alive_at = alive_at - interval '1 h' WHERE id = $1`,
        [run.id],
      ),
    );
    const { runs } = kept(gateway);
    expect(await runs.failLost()).toEqual([run.id]);
    await expect(run.compare()).rejects.toThrow(/taken for gone/);
    expect(await runs.find(run.id)).toMatchObject({ state: 'failed', counts: null });
    expect(await leftovers()).toEqual([{ lists: 0, found: 0 }]);
  });

  it('cannot finish once it was taken for gone, though its findings are not taken away yet', async () => {
    const { runs } = kept(gateway);
    const { id } = await runs.begin(PLAN);
    await onServer(gateway.databaseUrl, (client) =>
      client.query(`UPDATE reconciliations SET why = 'gone' WHERE id = $1`, [id]),
    );
    const columns = ['transactionId'];
    const progress = { id, state: 'comparing', columns, lines: 1, bytes: 1 } as const;
    expect(await runs.noteProgress(progress)).toBe(false);
    expect(await runs.finish(id, NO_BETS)).toBe(false);
    expect(await runs.failLost()).toEqual([]);
    expect(await runs.find(id)).toMatchObject({ state: 'failed', why: 'gone', counts: null });
  });

  it('does not take away what another run has found meanwhile, and which is then known', async () => {
    const list = `${csvOf(honest())}found-by-both,USD,1,1,odd\n`;
    const stop = new AbortController();
    const first = await begin(gateway, stop.signal);
    await first.read(chunksOf(list), LIST);
    expect((await reconcile(gateway, list)).told).toMatchObject({
      new: 1,
      counts: { unreadable: 1 },
    });
    stop.abort();
    await expect(first.compare()).rejects.toThrow();
    expect(await kept(gateway).runs.find(first.id)).toMatchObject({ state: 'failed' });
    const { told } = await reconcile(gateway, list);
    expect(told).toMatchObject({ new: 0, differences: [{ known: true }] });
  });

  it('by its caller ends at once, whatever it is doing', async () => {
    const stop = new AbortController();
    const run = await begin(gateway, stop.signal);
    async function* endless() {
      yield Buffer.from(csvOf(honest()));
      stop.abort();
      for (;;) yield Buffer.from('x,USD,1,1,placed\n'.repeat(1_000));
    }
    await expect(run.read(endless(), LIST)).rejects.toThrow();
    expect(await kept(gateway).runs.find(run.id)).toMatchObject({
      why: 'it was broken off: send the list again',
    });
  });

  it('by the end of its process is on record as such before that ends', async () => {
    const reconciler = new Reconciler({
      ...kept(gateway),
      ...{ databaseUrl: gateway.databaseUrl, logger: pino({ enabled: false }) },
      configuration: () => loadConfiguration(gateway.configFolder, { SERVICE_SECRET }),
    });
    const arrived = Promise.withResolvers<void>();
    async function* silent() {
      yield Buffer.from(csvOf(honest()));
      arrived.resolve();
      await new Promise<never>(() => undefined);
    }
    const receiving = reconciler.receive(PLAN, new Map(), silent());
    await arrived.promise;
    await reconciler.close();
    expect((await kept(gateway).runs.list({})).items[0]).toMatchObject({
      ...{ state: 'failed', why: 'it was broken off: send the list again' },
    });
    expect(await receiving).toEqual({ kind: 'stopping' });
    expect(await reconciler.receive(PLAN, new Map(), silent())).toEqual({ kind: 'stopping' });
  });

  it.each([['by Ctrl-C', csvOf([]), 'SIGINT', 130]] as const)(
    '%s ends the command, although its stdin stays open',
    async (_, list, signal, code) => {
      const { child, running } = startReconcile();
      child.stdin.write(list);
      if (signal !== undefined) {
        await vi.waitFor(async () => expect(await running()).toHaveLength(1), PATIENT_MS);
        child.kill(signal);
      }
      expect((await once(child, 'exit'))[0]).toBe(code);
      expect(await running()).toEqual([]);
    },
  );
});
