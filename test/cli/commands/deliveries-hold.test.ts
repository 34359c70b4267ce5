import type { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { folderWith, GATEWAY, operatorYaml } from '../../config/support/folder.ts';
import { type OpenDatabase, openDatabase } from '../../support/database.ts';
import { insertDelivery } from '../../support/deliveries.ts';
import { type Ran, wagergate } from '../support/command-line.ts';

let database: OpenDatabase;
let client: Client;
let env: { readonly DATABASE_URL: string; readonly GATEWAY_CONFIG: string };
beforeAll(async () => {
  database = await openDatabase();
  ({ client } = database);
});
afterAll(() => database.drop());
beforeEach(() => {
  const GATEWAY_CONFIG = folderWith({
    'gateway.yaml': GATEWAY,
    'operators/alpha.yaml': operatorYaml('alpha'),
  });
  env = { DATABASE_URL: database.url, GATEWAY_CONFIG };
});

const deliveries = (...args: readonly string[]): Promise<Ran> =>
  wagergate(['deliveries', ...args], { env });

const idsIn = ({ stdout }: Ran): string[] =>
  JSON.parse(stdout).items.map((item: { id: string }) => item.id);

describe('wagergate deliveries hold and resume', () => {
  it('refuse a mistyped operator id, which would seem to be held', async () => {
    expect(await deliveries('hold', '--operator', 'alhpa', '--reason', 'OPS-17')).toEqual({
      code: 2,
      stdout: '',
      stderr: 'error: no operator alhpa: there is alpha\n',
    });
    const { rows } = await client.query(`SELECT 1 FROM operator_holds`);
    expect(rows).toEqual([]);
  });

  it('name the operator that was probably meant if the typed one does not exist', async () => {
    expect(await deliveries('resume', '--operator', 'alhpa')).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'warning: no file of operator alhpa in the configuration\nerror: nobody holds the deliveries of alhpa\n',
    });
  });

  it('hold an operator whose file is gone, and warn of it', async () => {
    await client.query(
      `INSERT INTO players (user_id, operator_id, operator_user) VALUES ('gone-1', 'gone', 'ann')`,
    );
    const hold = await deliveries('hold', '--operator', 'gone', '--reason', 'OPS-17');
    expect(hold).toMatchObject({ code: 0, stdout: 'the deliveries of gone are held\n' });
    expect(hold.stderr).toContain('warning: no file of operator gone in the configuration');
    expect((await deliveries('resume', '--operator', 'gone')).code).toBe(0);
  });

  it('say of a standby that it takes no writes, and not that it is silent', async () => {
    const set = (what: string) =>
      client.query(
        `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I ${what}', current_database()); END $$`,
      );
    await set('SET default_transaction_read_only = on');
    const { code, stderr } = await deliveries('hold', '--operator', 'alpha', '--reason', 'OPS-17');
    await set('RESET default_transaction_read_only');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('PostgreSQL takes no writes: it is a standby, or read-only'),
    });
  });

  it('are on record with who did it at this command line, and why (I12)', async () => {
    expect((await deliveries('hold', '--operator', 'alpha', '--reason', ' ')).code).toBe(2);
    const hold = await deliveries('hold', '--operator', 'alpha', '--reason', 'OPS-17');
    expect(hold).toMatchObject({ code: 0, stdout: 'the deliveries of alpha are held\n' });
    const id = await insertDelivery(client);
    expect(idsIn(await deliveries('list', '--state', 'held', '--json'))).toEqual([id]);
    const again = await deliveries('hold', '--operator', 'alpha', '--reason', 'OPS-17');
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('already held') });
    expect(await deliveries('resume', '--operator', 'alpha')).toMatchObject({ code: 0 });
    expect(await deliveries('resume', '--operator', 'alpha')).toMatchObject({ code: 1 });
    const audit = await wagergate(['audit', 'list', '--operator', 'alpha', '--json'], { env });
    const { items } = JSON.parse(audit.stdout);
    // The retries of earlier tests come after them: the audit is never emptied.
    expect(items.slice(0, 2)).toMatchObject([
      { action: 'deliveries.resume', reason: null },
      {
        action: 'deliveries.hold',
        actor: expect.stringMatching(/^cli:.+/),
        subject: 'operator alpha',
        reason: 'OPS-17',
      },
    ]);
    const shown = await wagergate(['audit', 'list', '--operator', 'alpha'], { env });
    // What came of it, or a breaker that was opened and one that was left to itself would look the same.
    expect(shown.stdout).toMatch(/ deliveries\.resume +operator alpha +held false +alpha +-$/m);
    expect(shown.stdout).toMatch(/ deliveries\.hold +operator alpha +held true +alpha +OPS-17$/m);
    const exported = await wagergate(['audit', 'export', '--action', 'deliveries.hold'], { env });
    expect(JSON.parse(exported.stdout.split('\n')[0] ?? '')).toMatchObject({ reason: 'OPS-17' });
    const listed = await wagergate(['audit', 'list', '--actor', 'nobody'], { env });
    expect(listed.stderr).toBe('nothing of that is in the audit\n');
    const odd = await wagergate(['audit', 'list', '--from', 'yesterday'], { env });
    expect(odd.code).toBe(2);
    for (const command of ['list', 'export']) {
      const slip = await wagergate(['audit', command, '--action', 'deliveries.helt'], { env });
      expect(slip).toMatchObject({ code: 2, stdout: '' });
      expect(slip.stderr).toMatch(/^error: --action must be one of delivery\.retry, /);
    }
  });
});

it.each(['audit list', 'books days', 'reconciliations list'])(
  '%s finds nothing of a mistyped operator, and names the one that was probably meant',
  async (command) => {
    const args = [...command.split(' '), '--operator', 'alhpa'];
    const { code, stderr } = await wagergate(args, { env });
    expect(code).toBe(0);
    expect(stderr).toMatch(/^warning: no file of operator alhpa in the configuration\n$/m);
  },
);
