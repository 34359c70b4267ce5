import type { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { folderWith, GATEWAY, operatorYaml } from '../../config/support/folder.ts';
import { type OpenDatabase, openDatabase } from '../../support/database.ts';
import { insertDelivery } from '../../support/deliveries.ts';
import { wagergate } from '../support/command-line.ts';

let database: OpenDatabase;
let client: Client;
beforeAll(async () => {
  database = await openDatabase();
  ({ client } = database);
});
afterAll(() => database.drop());
beforeEach(() => client.query('TRUNCATE deliveries, operations, bets'));

const deliveries = (folder: string, ...args: readonly string[]) =>
  wagergate(['deliveries', ...args, '--folder', folder], { env: { DATABASE_URL: database.url } });

it('lists deliveries without a configuration, and says what that means', async () => {
  const id = await insertDelivery(client, { operator: 'beta' });
  const { code, stdout, stderr } = await deliveries('/nowhere', 'list', '--json');
  expect(code).toBe(0);
  expect(stderr).toMatch(/^warning: \/nowhere is not valid \(.*\): held .*\n$/);
  expect(JSON.parse(stdout).items).toMatchObject([{ id, state: 'pending' }]);
});

it('uses the other files if one is invalid, and says for which operators it cannot', async () => {
  const folder = folderWith({
    'gateway.yaml': GATEWAY,
    'operators/alpha.yaml': operatorYaml('alpha', 'delivery: { horizonHours: 5 }'),
    'operators/beta.yaml': operatorYaml('beta', 'status: maintenance'),
    'operators/gamma.yaml': 'id: gamma\nodd: true\n',
  });
  const dead = await insertDelivery(client, { state: 'dead' });
  await insertDelivery(client, { operator: 'beta' });
  await insertDelivery(client, { operator: 'gamma' });
  const listed = await deliveries(folder, 'list', '--json');
  expect(JSON.parse(listed.stdout).items).toMatchObject([
    { operator: 'alpha', state: 'dead' },
    { operator: 'beta', state: 'held' },
    { operator: 'gamma', state: 'pending' },
  ]);
  expect(listed.stderr).toMatch(
    /^warning: .* is not valid \(operators\/gamma\.yaml: .*\): held deliveries of gamma are .*\n$/,
  );
  expect(await deliveries(folder, 'retry', dead)).toMatchObject({ code: 0 });
  const { rows } = await client.query(
    `SELECT state, round(extract(epoch FROM dead_at - now()) / 3600)::int AS horizon_hours
       FROM deliveries WHERE id = $1`,
    [dead],
  );
  expect(rows).toEqual([{ state: 'pending', horizon_hours: 5 }]);
});

it('says of dead letters retried while somebody holds their operator that they wait, and not that they go out (I12)', async () => {
  const folder = folderWith({
    'gateway.yaml': GATEWAY,
    'operators/alpha.yaml': operatorYaml('alpha'),
    'operators/beta.yaml': operatorYaml('beta', 'status: maintenance'),
  });
  const dead = async (operator: string) => {
    await insertDelivery(client, { operator, state: 'dead' });
    return await deliveries(folder, 'retry', '--operator', operator, '--state', 'dead');
  };
  const waiting = (operator: string) => ({
    code: 0,
    stdout: `1 dead deliveries of ${operator} are due as soon as its operator takes deliveries again\n`,
    stderr: expect.stringMatching(/^held: 1, .*`wagergate operator status` says which\n$/),
  });
  expect(await dead('beta')).toEqual(waiting('beta'));
  const hold = ['hold', '--operator', 'alpha', '--reason', 'they look into it'];
  expect(await deliveries(folder, ...hold)).toMatchObject({ code: 0 });
  expect(await dead('alpha')).toEqual(waiting('alpha'));
  expect(await deliveries(folder, 'resume', '--operator', 'alpha')).toMatchObject({ code: 0 });
  expect(await dead('alpha')).toEqual({
    code: 0,
    stdout: '1 dead deliveries of alpha are due now\n',
    stderr: '',
  });
});
