import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { onServer } from '../../support/server.ts';
import { type Ran, spawnWagergate, wagergate } from '../support/command-line.ts';

const HEADER = 'operator,operatorUser,userId\n';

let database: TestDatabase;
/** With a file of operator alpha only. */
let folder: string;
beforeAll(async () => {
  database = await createDatabase();
  folder = mkdtempSync(join(tmpdir(), 'players-'));
  mkdirSync(join(folder, 'operators'));
  writeFileSync(join(folder, 'operators', 'alpha.yaml'), '');
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await database.drop();
});
beforeEach(() => sql('TRUNCATE players'));

async function sql(text: string): Promise<unknown[]> {
  return await onServer(database.url, async (client) => (await client.query(text)).rows);
}

async function players(): Promise<unknown[]> {
  const rows = await sql(
    `SELECT concat_ws('|', operator_id, operator_user, user_id) AS player FROM players ORDER BY id`,
  );
  return rows.map((row) => (row as { player: string }).player);
}

const around = (stdin: string | Buffer) => ({
  env: { DATABASE_URL: database.url, GATEWAY_CONFIG: folder },
  stdin,
});

const importLines = (lines: string | Buffer, ...options: readonly string[]): Promise<Ran> =>
  wagergate(
    ['players', 'import', '-', '--json', ...options],
    around(Buffer.concat([Buffer.from(HEADER), Buffer.from(lines)])),
  );

function tallyOf(ran: Ran): unknown {
  const { dryRun: _, ...tally } = JSON.parse(ran.stdout);
  return tally;
}

const NONE = { imported: 0, unchanged: 0, conflicts: 0, invalid: 0 };

describe('wagergate players import', () => {
  it('takes players over under the ids they have, from a file, in a process of its own', async () => {
    const file = join(folder, 'players.csv');
    writeFileSync(file, `\u{feff}${HEADER}alpha,ann,4711\r\nalpha,"bob","a ""b"", c"\r\n\r\n`);
    const ran = await spawnWagergate(['players', 'import', file], around(''));
    expect(ran).toEqual({
      code: 0,
      stdout: 'lines      2\nimported   2\nunchanged  0\nconflicts  0\ninvalid    0\n',
      stderr: '',
    });
    expect(await players()).toEqual(['alpha|ann|4711', 'alpha|bob|a "b", c']);
  });

  it('changes nothing when it is run again', async () => {
    await importLines('alpha,ann,1\nalpha,bob,2\n');
    const ran = await importLines('alpha,ann,1\nalpha,bob,2\nalpha,cid,3\nalpha,cid,3\n');
    expect(ran.code).toBe(0);
    expect(tallyOf(ran)).toEqual({ ...NONE, lines: 4, imported: 1, unchanged: 3 });
    expect(await players()).toEqual(['alpha|ann|1', 'alpha|bob|2', 'alpha|cid|3']);
  });

  it('changes nothing for a line that contradicts existing players or an earlier line', async () => {
    await importLines('alpha,ann,1\nalpha,bob,2\n');
    const ran = await importLines('alpha,ann,9\nalpha,eve,2\nalpha,cid,3\nalpha,cid,4\n');
    expect(ran.code).toBe(1);
    expect(tallyOf(ran)).toEqual({ ...NONE, lines: 4, imported: 1, conflicts: 3 });
    expect(ran.stderr.split('\n')).toEqual([
      "line 2: alpha's ann has the userId 1 already",
      "line 3: userId 2 already belongs to alpha's bob",
      "line 5: alpha's cid has the userId 3 already",
      expect.stringMatching(
        /^error: 3 of 4 lines were not imported: correct them and run it again/,
      ),
      '',
    ]);
    expect(await players()).toEqual(['alpha|ann|1', 'alpha|bob|2', 'alpha|cid|3']);
  });

  it('never confuses the players of two operators that have the same name (I8)', async () => {
    await importLines('alpha,ann,1\n');
    const ran = await importLines('beta,ann,2\nbeta,bob,1\n');
    expect(tallyOf(ran)).toEqual({ ...NONE, lines: 2, imported: 1, conflicts: 1 });
    expect(await players()).toEqual(['alpha|ann|1', 'beta|ann|2']);
  });

  it('gives each line that cannot be read its number and the reason, and takes the others', async () => {
    const bad = [
      'Alpha,ann,1',
      'alpha,ann b,1',
      'alpha,ann,',
      `alpha,ann,${'x'.repeat(65)}`,
      'alpha,ann, 1',
      'alpha,ann',
      'alpha,ann,1,2',
      'alpha,"ann,1',
      'alpha,ann,a\u{1}b',
    ];
    const text = Buffer.from(`${bad.join('\n')}\nalpha,fine,1\n`);
    const ran = await importLines(Buffer.concat([text, Buffer.from([0xff, 0x0a])]));
    expect(ran.code).toBe(1);
    expect(tallyOf(ran)).toEqual({ ...NONE, lines: 11, imported: 1, invalid: 10 });
    const reasons = ran.stderr.split('\n').slice(0, 10);
    expect(reasons).toEqual([
      expect.stringMatching(/^line 2: operator: must be/),
      expect.stringMatching(/^line 3: operatorUser: must be/),
      'line 4: userId: must not be empty',
      'line 5: userId: must be at most 64 characters',
      'line 6: userId: begins or ends with a space',
      expect.stringMatching(/^line 7: has 2 field\(s\) where 3 belong/),
      expect.stringMatching(/^line 8: has 4 field\(s\) where 3 belong/),
      expect.stringMatching(/^line 9: a quote is not closed/),
      'line 10: userId: holds an invisible character',
      'line 12: is not UTF-8 text',
    ]);
    expect(await players()).toEqual(['alpha|fine|1']);
  });

  it('says on a dry run what would happen, within the file too, and writes nothing', async () => {
    await importLines('alpha,ann,1\n');
    const ran = await importLines(
      'alpha,ann,1\nalpha,ann,2\nalpha,bob,1\nalpha,cid,3\nalpha,cid,3\nalpha,cid,4\nalpha,dan,3\n',
      '--dry-run',
    );
    expect(ran.code).toBe(1);
    expect(tallyOf(ran)).toEqual({ lines: 7, imported: 1, unchanged: 2, conflicts: 4, invalid: 0 });
    expect(ran.stderr).toContain('4 of 7 lines would not be imported');
    expect(await players()).toEqual(['alpha|ann|1']);
  });

  it.each([
    ['', 'the file is empty'],
    ['alpha,ann,1\n', 'line 1 is "alpha,ann,1"'],
    ['operator|operatorUser|userId\n', 'line 1 is "operator|operatorUser|userId"'],
  ])('imports nothing from %j, which has no header', async (content, why) => {
    const ran = await wagergate(['players', 'import', '-'], around(content));
    expect(ran.code).toBe(1);
    expect(ran.stderr).toBe(`error: ${why}: the first line must be operator,operatorUser,userId\n`);
  });

  it('runs once at a time', async () => {
    const ran = await onServer(database.url, async (client) => {
      await client.query('SELECT pg_advisory_lock(2002872166)');
      return await importLines('alpha,ann,1\n');
    });
    expect(ran.code).toBe(1);
    expect(ran.stderr).toMatch(
      'error: another import is running: wait for it, then run this again\n',
    );
  });
});
