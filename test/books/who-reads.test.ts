import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN, ask } from '../admin/support/admin.ts';
import { wagergate } from '../cli/support/command-line.ts';
import { expectDocumented } from '../openapi/support/documented.ts';
import { placedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { onServer } from '../support/server.ts';
import { age, closeNext, csvOf, dayBefore, sha256 } from './support/closed-days.ts';
import { bookAll, rowsOf } from './support/kept-books.ts';

let gateway: TestGateway;
let admin: (path: string, headers?: Record<string, string>) => ReturnType<typeof ask>;
let closeAdmin: () => Promise<void>;
beforeAll(async () => {
  gateway = await startTestGateway({ operators: { alpha: {}, beta: {} }, env: { ADMIN_TOKEN } });
  const { app } = gateway.parts.adminServer();
  const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  admin = (path, headers = {}) =>
    ask(`${baseUrl}${path}`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}`, ...headers } });
  closeAdmin = () => app.close();
  const bets = [
    await placedBet(gateway, { amount: '10' }),
    await placedBet(gateway, { amount: '12.10' }),
    await placedBet(gateway, { amount: '7', operatorId: 'beta' }),
  ];
  await bets[0]?.settle('20.50');
  for (const bet of bets) await age(bet, bet.wallet.name === 'beta' ? 2 : 3);
  await bookAll(gateway);
  for (let days = 0; days < 2; days += 1) await closeNext(gateway);
});
afterAll(async () => {
  await closeAdmin();
  await gateway.close();
});

describe('who may read a statement', () => {
  it('the operator its own, signed, as JSON or as the CSV that its digest is of', async () => {
    const alpha = gateway.operator('alpha');
    const day = dayBefore(3);
    const answer = await alpha.call('/operator/statements', { day });
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ operator: 'alpha', day, movements: 3 });
    expectDocumented('POST /operator/statements', answer);
    const accept = { headers: { accept: 'text/csv' } };
    const csv = await alpha.call('/operator/statements', { day }, accept);
    expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(csv.body).toBe(await csvOf(gateway, 'alpha', day));
    const digest = createHash('sha256').update(csv.body).digest('base64');
    expect([csv.headers.digest, answer.headers.digest]).toEqual([
      `sha-256=${digest}`,
      `sha-256=${digest}`,
    ]);
    expect((await alpha.call('/operator/statements', { day: dayBefore(0) })).status).toBe(404);
    expect((await alpha.call('/operator/statements', { day: '2026-02-30' })).json).toMatchObject({
      code: 5,
      message: expect.stringContaining('day: must be a day'),
    });
    await alpha.close();
  });

  it('nobody another’s: its day is not found, and no member names one (I8)', async () => {
    const beta = gateway.operator('beta');
    expect((await beta.call('/operator/statements', { day: dayBefore(3) })).status).toBe(404);
    const named = await beta.call('/operator/statements', { day: dayBefore(3), operator: 'alpha' });
    expect(named.status).toBe(400);
    await beta.close();
  });

  it('the aggregator everybody’s, and the days', async () => {
    const path = `/admin/books/statements/alpha/${dayBefore(3)}`;
    const { json, headers } = await admin(path, { accept: 'application/json' });
    expect(json).toMatchObject({ operator: 'alpha', movements: 3 });
    const csv = await admin(path, { accept: 'text/csv' });
    expect(csv.text).toBe(await csvOf(gateway, 'alpha', dayBefore(3)));
    const digest = `sha-256=${createHash('sha256').update(csv.text).digest('base64')}`;
    expect([headers.get('digest'), csv.headers.get('digest')]).toEqual([digest, digest]);
    expect((await admin(`/admin/books/statements/alpha/${dayBefore(0)}`)).status).toBe(404);
    // A day long before the first bet is not reported as open.
    const early = await admin('/admin/books/statements/alpha/2020-01-01');
    expect([early.status, early.json.message]).toEqual([
      404,
      expect.stringContaining('or the operator had no bets by then'),
    ]);
    expect((await admin('/admin/books/statements/alpha/yesterday')).status).toBe(400);
    expect((await admin(path, { authorization: 'Bearer nobody' })).status).toBe(401);

    const days = await admin('/admin/books/days?operator=alpha&currency=USD');
    expect(days.json.nextCursor).toBeNull();
    expect(days.json.items[0]).toEqual({
      day: dayBefore(3),
      operator: 'alpha',
      currency: 'USD',
      bets: 2,
      stakes: '22.1',
      payouts: '20.5',
      payoutReversals: '0',
      stakeReturns: '0',
      net: '1.6',
      freebetStakes: '0',
      openBets: 1,
      openStakes: '12.1',
      unresolved: 0,
      closed: true,
    });
    const range = await admin(`/admin/books/days?from=${dayBefore(2)}&to=${dayBefore(2)}`);
    expect(range.json.items.map(({ day }: { day: string }) => day)).toEqual([
      dayBefore(2),
      dayBefore(2),
    ]);
    const newest = await admin('/admin/books/days?operator=alpha&order=newest');
    const found = newest.json.items.map(({ day }: { day: string }) => day);
    expect(found.at(-1)).toBe(dayBefore(3));
    expect(found).toEqual([...found].sort().reverse());
    for (const wrong of [
      'order=size',
      'from=soon',
      'from=0000-01-01',
      'operators=alpha',
      'cursor=x',
      'to=2026-13-01',
    ]) {
      expect((await admin(`/admin/books/days?${wrong}`)).status, wrong).toBe(400);
    }
    const [from, to] = [dayBefore(2), dayBefore(3)];
    expect(await admin(`/admin/books/days?from=${from}&to=${to}`)).toMatchObject({
      status: 400,
      json: { code: 5, message: 'to: must not be before from' },
    });
  });

  it('people by the command line', async () => {
    const env = { DATABASE_URL: gateway.databaseUrl, GATEWAY_CONFIG: gateway.configFolder };
    const args = ['books', 'statement', '--operator', 'alpha', '--day', dayBefore(3)];
    const told = await wagergate(args, { env });
    expect(told.stdout).toContain('22.1');
    const csv = await wagergate([...args, '--csv'], { env });
    expect(csv.stdout).toBe(await csvOf(gateway, 'alpha', dayBefore(3)));
    const json = await wagergate([...args, '--json'], { env });
    expect(JSON.parse(json.stdout)).toMatchObject({ sha256: sha256(csv.stdout) });
    const days = await wagergate(['books', 'days', '--operator', 'alpha'], { env });
    expect(days.stdout).toMatch(
      new RegExp(`^${dayBefore(3)} +alpha +USD +2 +22.1 .* closed$`, 'm'),
    );
    const wrong = await wagergate(['books', 'days', '--cursor', 'x'], { env });
    expect(wrong.code).toBe(2);
    const open = await wagergate([...args.slice(0, -1), dayBefore(0)], { env });
    expect(open).toMatchObject({ code: 1, stderr: expect.stringContaining('not closed yet') });
    const rebuilt = await wagergate(['books', 'rebuild', '--from', dayBefore(1)], {
      env: { ...env, SERVICE_SECRET: 'the-services-secret' },
    });
    expect(rebuilt).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('the same as before'),
    });
  });

  it('people who are told where these are not the lines that were closed (I12)', async () => {
    const env = { DATABASE_URL: gateway.databaseUrl, GATEWAY_CONFIG: gateway.configFolder };
    const day = dayBefore(3);
    const args = ['books', 'statement', '--operator', 'alpha', '--day', day, '--csv'];
    expect(await wagergate(args, { env })).toMatchObject({ code: 0, stderr: '' });
    // As a superuser may, past the triggers.
    const change = (by: string) =>
      onServer(gateway.databaseUrl, async (client) => {
        await client.query('SET session_replication_role = replica');
        await client.query(
          `UPDATE books_movements SET amount = amount ${by}
            WHERE operator_id = 'alpha' AND day = $1 AND kind = 'payout'`,
          [day],
        );
      });
    await change('+ 1');
    const changed = await wagergate(args, { env });
    await change('- 1');
    expect(changed.code).toBe(1);
    expect(changed.stderr).toMatch(/^error: these are not the lines that were closed: .*\n$/);
    expect(await wagergate(args, { env })).toMatchObject({ code: 0, stderr: '' });
  });

  it('people whom a rebuild tells which sums it has mended (I12)', async () => {
    const env = {
      ...{ DATABASE_URL: gateway.databaseUrl, GATEWAY_CONFIG: gateway.configFolder },
      SERVICE_SECRET: 'the-services-secret',
    };
    const today = dayBefore(0);
    await placedBet(gateway, { amount: '3' });
    await bookAll(gateway);
    const sums = () =>
      rowsOf(gateway, 'SELECT stakes::text FROM books_days WHERE day = $1 ORDER BY 1', [today]);
    const right = await sums();
    const spoil = `UPDATE books_days SET stakes = stakes - 100 WHERE day = $1 AND operator_id = 'alpha'`;
    await rowsOf(gateway, spoil, [today]);
    const told = await wagergate(['books', 'rebuild'], { env });
    expect(told).toMatchObject({ code: 0, stdout: expect.stringContaining('the same as before') });
    expect(told.stdout).toContain(`the sums of 1 day were others (alpha/USD/${today})`);
    expect(await sums()).toEqual(right);
    const again = await wagergate(['books', 'rebuild'], { env });
    expect(again.stdout).not.toContain('were others');
  });
});
