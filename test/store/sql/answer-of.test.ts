import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { OutOfTime } from '../../../src/lib/within.ts';
import { answerOf } from '../../../src/store/sql/answer-of.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';

const run = promisify(execFile);

let server: TestDatabase;
beforeAll(async () => {
  server = await createDatabase();
});
afterAll(() => server.drop());

it('leaves nothing of a statement in old space, where only a major collection would free it', async () => {
  const script = fileURLToPath(new URL('support/kept-of-statements.ts', import.meta.url));
  const { stdout } = await run(process.execPath, ['--expose-gc', script, server.url]);
  expect(Number(stdout)).toBeLessThan(0.05);
});

it('waits no longer than it is told, and the connection can then be closed at once', async () => {
  const client = new Client(server.url);
  client.on('error', () => undefined);
  await client.connect();
  await expect(answerOf(client, { text: 'SELECT pg_sleep(60)' }, 50)).rejects.toThrow(OutOfTime);
  await client.end();
});

it('throws what PostgreSQL says of a statement', async () => {
  const client = new Client(server.url);
  await client.connect();
  await expect(answerOf(client, { text: 'SELECT 1/0' }, 5_000)).rejects.toMatchObject({
    code: '22012',
  });
  expect(await answerOf(client, { text: 'SELECT 1 AS one' }, 5_000)).toEqual([{ one: 1 }]);
  await client.end();
});
