import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { folderWith, GATEWAY, operatorYaml } from '../../config/support/folder.ts';
import { COMPILED } from '../../support/compiled.ts';
import { openDatabase } from '../../support/database.ts';
import { insertDeadRollbacks } from '../../support/deliveries.ts';

const PROGRAM = fileURLToPath(new URL('../../../src/cli/wagergate.ts', import.meta.url));
const PIECE = 10_000;

it('says at Ctrl-C how many were retried, and leaves the others for a second run (I12)', async () => {
  const { client, url, drop } = await openDatabase();
  await insertDeadRollbacks(client, 2 * PIECE + 1);
  const GATEWAY_CONFIG = folderWith({
    'gateway.yaml': GATEWAY,
    'operators/alpha.yaml': operatorYaml('alpha'),
  });
  // Keeps the second piece from ending before Ctrl-C is pressed.
  await client.query('BEGIN');
  await client.query(`SELECT FROM deliveries WHERE transaction_id = 'bet-${PIECE + 5}' FOR UPDATE`);
  const args = [PROGRAM, 'deliveries', 'retry', '--operator', 'alpha', '--state', 'dead'];
  const env = { PATH: process.env.PATH, ...COMPILED, DATABASE_URL: url, GATEWAY_CONFIG };
  const child = spawn(process.execPath, args, { env });
  const closed = once(child, 'close');
  let told = '';
  child.stderr.on('data', (chunk: Buffer) => {
    told += chunk.toString('utf8');
  });
  await expect.poll(() => told, { timeout: 60_000 }).toContain(`... ${PIECE} deliveries`);
  child.kill('SIGINT');
  await expect.poll(() => told, { timeout: 60_000 }).toContain('stopping after those under way');
  await client.query('COMMIT');
  await closed;
  expect(child.exitCode).toBe(130);
  expect(told).toMatch(
    /\n20000 were retried, the others are as they were: once more goes on with them\ninterrupted\n$/,
  );
  const { rows } = await client.query(
    `SELECT state, count(*)::int AS count FROM deliveries GROUP BY state ORDER BY state`,
  );
  expect(rows).toEqual([
    { state: 'dead', count: 1 },
    { state: 'pending', count: 2 * PIECE },
  ]);
  await drop();
}, 120_000);
