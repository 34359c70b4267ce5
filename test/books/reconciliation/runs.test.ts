import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wagergate } from '../../cli/support/command-line.ts';
import { BY } from '../../support/audit.ts';
import { placedBet, type TestBet } from '../../support/bet.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { bookAll, rowsOf } from '../support/kept-books.ts';
import { csvOf, HEADER, kindsOf, type Listed, listOf, reconcile } from './support/lists.ts';
import { begin, chunksOf, kept, LIST } from './support/own-runs.ts';

let gateway: TestGateway;
let bets: TestBet[];
beforeAll(async () => {
  gateway = await startTestGateway({ operators: { alpha: {}, beta: {} } });
  bets = await Promise.all([1, 2, 3].map(() => placedBet(gateway, { amount: '10' })));
});
afterAll(() => gateway.close());

const honest = (operator = 'alpha') => listOf(gateway.wallet(operator));
const without = (bet: TestBet | undefined) =>
  csvOf(honest().filter(({ transactionId }) => transactionId !== bet?.transactionId));

describe('differences are worked off (I12)', () => {
  it('are carried to the next run: known, not new, and resolved once a person has seen to them', async () => {
    const [bet] = bets;
    const first = await reconcile(gateway, without(bet));
    expect(first.told).toMatchObject({ new: 1, differences: [{ known: false, resolution: null }] });
    const again = await reconcile(gateway, without(bet));
    expect(again).toMatchObject({ code: 3, told: { new: 0, differences: [{ known: true }] } });
    const id = again.told?.differences[0]?.id ?? '';
    expect(id).toBe(first.told?.differences[0]?.id);

    const { differences, runs } = kept(gateway);
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

  it('are resolved together, some or all of a kind, each on record with the reason', async () => {
    const missing = [await placedBet(gateway), await placedBet(gateway), await placedBet(gateway)];
    const lost = new Set(missing.map(({ transactionId }) => transactionId));
    const rest = honest().filter(({ transactionId }) => !lost.has(transactionId));
    const list = csvOf(
      rest.map((line) => (line === rest[0] ? { ...line, currency: 'EUR' } : line)),
    );
    const { told } = await reconcile(gateway, list);
    const run = told?.id ?? '';
    const ids = told?.differences.flatMap(({ kind, id }) => (kind === 'missing_there' ? [id] : []));
    const [one = '', two = ''] = ids ?? [];
    expect(ids).toHaveLength(3);
    const resolve = (...args: string[]) =>
      wagergate(['reconciliations', 'resolve', run, ...args], {
        env: { DATABASE_URL: gateway.databaseUrl },
      });
    const why = ['--reason', 'OPS-18'];
    for (const misuse of [why, [one, '--all', ...why], [one, '--dry-run'], ['--all']]) {
      expect((await resolve(...misuse)).code).toBe(2);
    }

    const some = await resolve(one, '999999', two, ...why);
    expect(some).toMatchObject({ code: 1, stdout: expect.stringContaining(`${two} is resolved`) });
    expect(some.stderr).toMatch(/has no difference 999999: .*\nerror: 1 of 3 were not resolved\n$/);
    expect(await resolve('--all', '--dry-run')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('differences of alpha that would be resolved: 2'),
    });
    const ofKind = await resolve('--all', '--kind', 'missing_there', ...why);
    expect([ofKind.stdout, ofKind.stderr]).toEqual([
      'missing_there: 1\ndifferences of alpha resolved: 1\n',
      '',
    ]);
    const all = await resolve('--all', '--json', ...why);
    const ofAll = { resolved: 1, kinds: { currency_differs: 1 }, dryRun: false };
    expect(JSON.parse(all.stdout)).toEqual(ofAll);
    const { open } = (await kept(gateway).runs.find(run)) ?? {};
    expect(Object.values(open ?? {}).every((count) => count === 0)).toBe(true);
    const audited = await rowsOf(gateway, "SELECT subject FROM audit WHERE reason = 'OPS-18'");
    expect(audited).toHaveLength(4);
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

describe('a list that comes slowly', () => {
  it('does not hold the books, which read no further than the oldest writer', async () => {
    const run = await begin(gateway);
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

it('leaves callbacks their turn while it reads a list of nothing but blank lines (I7)', async () => {
  const run = await begin(gateway);
  let turns = 0;
  let isRead = false;
  const count = () => {
    turns += 1;
    if (!isRead) setImmediate(count);
  };
  setImmediate(count);
  const blank = '\n'.repeat(64 * 1024);
  const read = run.read(chunksOf(csvOf(honest()), ...Array<string>(40).fill(blank)), LIST);
  await read.finally(() => {
    isRead = true;
  });
  expect(turns).toBeGreaterThan(40);
  expect(await run.compare()).toMatchObject({ missing_there: 0 });
});
