import type { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { folderWith, GATEWAY, operatorYaml } from '../../config/support/folder.ts';
import { type OpenDatabase, openDatabase } from '../../support/database.ts';
import { insertDelivery, insertOperation } from '../../support/deliveries.ts';
import { type Ran, wagergate } from '../support/command-line.ts';

let database: OpenDatabase;
let client: Client;
let env: { readonly DATABASE_URL: string; readonly GATEWAY_CONFIG: string };
beforeAll(async () => {
  database = await openDatabase();
  ({ client } = database);
});
afterAll(() => database.drop());
beforeEach(async () => {
  await client.query('TRUNCATE deliveries, operations, bets');
  const GATEWAY_CONFIG = folderWith({
    'gateway.yaml': GATEWAY,
    'operators/alpha.yaml': operatorYaml('alpha', 'delivery: { horizonHours: 5 }'),
    'operators/beta.yaml': operatorYaml('beta', 'status: maintenance'),
  });
  env = { DATABASE_URL: database.url, GATEWAY_CONFIG };
});

const deliveries = (...args: readonly string[]): Promise<Ran> =>
  wagergate(['deliveries', ...args], { env });

const idsIn = ({ stdout }: Ran): string[] =>
  JSON.parse(stdout).items.map((item: { id: string }) => item.id);

async function rowOf(id: string): Promise<Record<string, unknown>> {
  const { rows } = await client.query(
    `SELECT state, resolved_by, resolved_why, next_attempt_at <= now() AS due,
            round(extract(epoch FROM dead_at - now()) / 3600)::int AS horizon_hours
       FROM deliveries WHERE id = $1`,
    [id],
  );
  return rows[0];
}

describe('wagergate deliveries list', () => {
  it('shows a line per delivery, oldest first', async () => {
    const lastError = 'HTTP 503\u{1b}[31m';
    const first = await insertDelivery(client, { transactionId: 'bet-1', attempts: 3, lastError });
    await insertDelivery(client, { operator: 'beta', operation: 'update', transactionId: 'bet-2' });
    const { code, stdout, stderr } = await deliveries('list');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [titles, , ...lines] = stdout.trimEnd().split('\n');
    expect(titles).toMatch(/^ *id {2}operator {2}operation {2}transactionId {2}state +attempts/);
    expect(lines).toEqual([
      expect.stringMatching(
        new RegExp(`^ *${first} +alpha +rollback +bet-1 +pending +3 +.* HTTP 503\u{fffd}\\[31m$`),
      ),
      expect.stringMatching(/^ *\d+ +beta +update +bet-2 +held +0 .* -$/),
    ]);
  });

  it('says in words which are confirmed already and repeated by design', async () => {
    await insertDelivery(client, { transactionId: 'bet-1', purpose: 'confirm' });
    await insertDelivery(client, { transactionId: 'bet-2' });
    const { stdout } = await deliveries('list');
    const [, , confirmed, owed] = stdout.split('\n');
    expect(confirmed).toContain('bet-1          pending (confirmed already, repeated by design)');
    expect(owed).toMatch(/bet-2 +pending +0 /);
  });

  it('says of held and pending ones that it sees no breakers', async () => {
    await insertDelivery(client);
    const note =
      'note: what waits for an open breaker is listed as pending here; `wagergate operator status` shows whose\n';
    expect((await deliveries('list', '--state', 'pending')).stderr).toBe(note);
    const held = await deliveries('list', '--state', 'held');
    expect(held.stderr).toBe(`no such deliveries\n${note}`);
    for (const others of [['--state', 'dead'], []]) {
      expect((await deliveries('list', ...others)).stderr).not.toContain('note:');
    }
    expect((await deliveries('list', '--state', 'held', '--json')).stderr).toBe('');
  });

  it('narrows down by operator, state and kind, and goes on by cursor', async () => {
    const dead = await insertDelivery(client, { state: 'dead' });
    const update = await insertDelivery(client, { operation: 'update' });
    const beta = await insertDelivery(client, { operator: 'beta' });
    const ids = async (...options: readonly string[]) =>
      idsIn(await deliveries('list', '--json', ...options));
    expect(await ids()).toEqual([dead, update, beta]);
    expect(await ids('--operator', 'alpha')).toEqual([dead, update]);
    expect(await ids('--state', 'dead')).toEqual([dead]);
    expect(await ids('--state', 'held')).toEqual([beta]);
    expect(await ids('--operation', 'update')).toEqual([update]);

    const page = await deliveries('list', '--limit', '2');
    expect(page.stderr).toBe(`there are more: add --cursor ${update}\n`);
    expect(await ids('--cursor', update)).toEqual([beta]);
  });

  it('says so if there are none', async () => {
    expect(await deliveries('list', '--state', 'dead')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'no such deliveries\n',
    });
  });
});

describe('wagergate deliveries retry', () => {
  it('makes a dead delivery due now, with the horizon of its operator (I4)', async () => {
    const id = await insertDelivery(client, { state: 'dead', transactionId: 'bet-1' });
    expect(await deliveries('retry', id)).toEqual({
      code: 0,
      stdout: `delivery ${id} (alpha's rollback of bet-1) is due now\n`,
      stderr: '',
    });
    expect(await rowOf(id)).toMatchObject({ state: 'pending', due: true, horizon_hours: 5 });
  });

  it('makes all deliveries of an operator due, and none of another (I8)', async () => {
    const alpha = [
      await insertDelivery(client, { state: 'dead' }),
      await insertDelivery(client, { state: 'dead' }),
    ];
    const beta = await insertDelivery(client, { state: 'dead', operator: 'beta' });
    const ran = await deliveries('retry', '--operator', 'alpha', '--state', 'dead', '--json');
    expect(JSON.parse(ran.stdout)).toEqual({ operator: 'alpha', state: 'dead', retried: 2 });
    for (const id of alpha) expect(await rowOf(id)).toMatchObject({ state: 'pending', due: true });
    expect(await rowOf(beta)).toMatchObject({ state: 'dead' });
  });

  it('leaves the other operations dead where one is named: a wallet may pay a result twice', async () => {
    const rollback = await insertDelivery(client, { state: 'dead' });
    const settle = await insertDelivery(client, { state: 'dead', operation: 'settle' });
    const args = ['--operator', 'alpha', '--state', 'dead', '--operation', 'rollback'];
    const { stdout } = await deliveries('retry', ...args);
    expect(stdout).toBe('1 dead deliveries (rollback) of alpha are due now\n');
    expect(await rowOf(rollback)).toMatchObject({ state: 'pending', due: true });
    expect(await rowOf(settle)).toMatchObject({ state: 'dead' });
  });

  it('does not bring back what a later operation of the bet has passed (I6)', async () => {
    const id = await insertDelivery(client, {
      state: 'dead',
      operation: 'settle',
      transactionId: 'bet-1',
    });
    await insertOperation(client, 'unsettle', 'bet-1');
    const { code, stderr } = await deliveries('retry', id);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^error: delivery \d+ was overtaken by a later operation of its bet.*\n$/,
    );
    // The wallet has to hold the later one: nobody may bring the old one there by hand.
    expect(stderr).toContain('what the service was last answered 200 for');
    expect(await rowOf(id)).toMatchObject({ state: 'dead' });
    // Among many it is left as well, and the person who asked for all of them is told.
    expect(await deliveries('retry', '--operator', 'alpha', '--state', 'dead')).toEqual({
      code: 0,
      stdout: '0 dead deliveries of alpha are due now\n',
      stderr: expect.stringMatching(
        /^left dead: 1, overtaken by .* last answered 200 for, .* `wagergate deliveries resolve <id>`\n$/,
      ),
    });
  });

  it('leaves finished deliveries alone', async () => {
    const id = await insertDelivery(client, { state: 'delivered' });
    const { code, stderr } = await deliveries('retry', id);
    expect(code).toBe(1);
    expect(stderr).toMatch(/is delivered: only pending, held and dead ones are retried\n$/);
  });

  it.each([
    [['999999'], 1, 'no delivery 999999'],
    [['twelve'], 2, "twelve is not a delivery's id"],
    [[], 2, 'give either a delivery id, or both --operator and --state'],
    [['--operator', 'alpha'], 2, 'give either'],
    [['12', '--operator', 'alpha', '--state', 'dead'], 2, 'give either'],
    [['12', '--operation', 'rollback'], 2, 'give either'],
  ])('does not guess what %j means', async (args, code, why) => {
    const ran = await deliveries('retry', ...args);
    expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code, stdout: '' });
    expect(ran.stderr).toMatch(/^error: .*\n$/);
    expect(ran.stderr).toContain(why);
  });
});

describe('wagergate deliveries resolve', () => {
  const words = ['--by', 'Ann, OPS-17', '--reason', 'credited by hand'];

  it('records a dead delivery as resolved, with person and reason', async () => {
    const id = await insertDelivery(client, { state: 'dead', transactionId: 'bet-1' });
    expect(await deliveries('resolve', id, ...words)).toEqual({
      code: 0,
      stdout: `delivery ${id} (alpha's rollback of bet-1) is resolved\n`,
      stderr: '',
    });
    expect(await rowOf(id)).toMatchObject({
      state: 'resolved',
      resolved_by: 'Ann, OPS-17',
      resolved_why: 'credited by hand',
    });
  });

  it('does not take from the gateway what it still sees to (I4)', async () => {
    const id = await insertDelivery(client);
    const { code, stderr } = await deliveries('resolve', id, ...words);
    expect(code).toBe(1);
    expect(stderr).toMatch(/is pending: only dead ones are resolved/);
    expect(await rowOf(id)).toMatchObject({ state: 'pending' });
  });

  it.each([
    ['', 'Ann', ' ', '--reason is empty: it is kept for the record'],
    [
      ' in not more than 2,000 characters',
      'Ann',
      'y'.repeat(2_001),
      '--reason has 2001 characters: at most 2000 are kept',
    ],
    [
      ' in not more than 200',
      'A'.repeat(201),
      'why',
      '--by has 201 characters: at most 200 are kept',
    ],
  ])('wants to know who and why%s, as by HTTP', async (_, by, reason, error) => {
    const id = await insertDelivery(client, { state: 'dead' });
    const ran = await deliveries('resolve', id, '--by', by, '--reason', reason);
    expect(ran.code).toBe(2);
    expect(ran.stderr).toBe(`error: ${error}\n`);
    expect(await rowOf(id)).toMatchObject({ state: 'dead' });
  });
});

describe('an operator that is misspelt', () => {
  it.each([
    ['list', '--operator', 'alhpa'],
    ['retry', '--operator', 'alhpa', '--state', 'dead'],
    ['release', '--operator', 'alhpa', '--generation', '1'],
  ])('is warned of by %s, with the one that was probably meant', async (...args) => {
    const { code, stderr } = await deliveries(...args);
    expect(code).toBe(0);
    expect(stderr).toContain('warning: no file of operator alhpa in the configuration\n');
  });

  it('cannot be released without saying up to what', async () => {
    expect(await deliveries('release', '--operator', 'alhpa')).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^error: no operator alhpa: there is .*\n$/),
    });
  });

  it.each(['0', '1.5', '3000000000', ''])('is released to no generation %j', async (generation) => {
    const args = ['release', '--operator', 'alpha', '--generation', generation];
    const { code, stderr } = await deliveries(...args);
    expect(code).toBe(2);
    expect(stderr).toBe('error: --generation must be a whole number from 1 to 2147483647\n');
  });

  it('is not what an operator is whose file is there', async () => {
    expect((await deliveries('list', '--operator', 'alpha')).stderr).toBe('no such deliveries\n');
    const { stdout } = await deliveries('release', '--operator', 'alpha', '--json');
    expect(JSON.parse(stdout)).toEqual({ operator: 'alpha', generation: 1 });
  });
});
