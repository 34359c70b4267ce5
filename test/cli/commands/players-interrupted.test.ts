import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { folderWith, GATEWAY, operatorYaml } from '../../config/support/folder.ts';
import { COMPILED } from '../../support/compiled.ts';
import { openDatabase } from '../../support/database.ts';
import { rowsOf } from '../../support/server.ts';

const PROGRAM = fileURLToPath(new URL('../../../src/cli/wagergate.ts', import.meta.url));
const BATCH = 2_000;

it('says at Ctrl-C how many players were imported, and leaves the others for a second run', async () => {
  const { client, url, drop } = await openDatabase();
  const folder = folderWith({
    'gateway.yaml': GATEWAY,
    'operators/alpha.yaml': operatorYaml('alpha'),
  });
  const file = join(folder, 'players.csv');
  const lines = Array.from({ length: 4 * BATCH }, (_, at) => `alpha,user-${at},id-${at}\n`);
  writeFileSync(file, `operator,operatorUser,userId\n${lines.join('')}`);
  // Keeps the second batch from ending before Ctrl-C is pressed.
  await client.query('BEGIN');
  await client.query(
    `INSERT INTO players (operator_id, operator_user, user_id)
     VALUES ('alpha', 'user-${BATCH + 5}', 'id-${BATCH + 5}')`,
  );
  const env = { PATH: process.env.PATH, ...COMPILED, DATABASE_URL: url, GATEWAY_CONFIG: folder };
  const child = spawn(process.execPath, [PROGRAM, 'players', 'import', file], { env });
  const closed = once(child, 'close');
  let told = '';
  child.stderr.on('data', (chunk: Buffer) => {
    told += chunk.toString('utf8');
  });
  const written = async () => (await rowsOf(url, 'SELECT FROM players')).length;
  await expect.poll(written, { timeout: 60_000 }).toBe(BATCH);
  child.kill('SIGINT');
  await expect.poll(() => told, { timeout: 60_000 }).toContain('stopping after the lines');
  await client.query('ROLLBACK');
  await closed;
  expect(child.exitCode).toBe(130);
  expect(told).toMatch(
    /\n4000 lines were imported: run it again, lines that were imported count as unchanged\ninterrupted\n$/,
  );
  expect(await written()).toBe(2 * BATCH);
  await drop();
}, 120_000);
