import { expect, it } from 'vitest';
import { exchangeDatabase } from '../support/other-database.ts';
import { openDeployment } from './support/deployment.ts';

const PATIENT = { timeout: 15_000, interval: 100 };

it('is not ready while its address leads to another database, says why, and is again by itself', async (context) => {
  const deployment = await openDeployment();
  context.onTestFinished(() => deployment.close());
  const { adminUrl, process } = await deployment.replica({ WORKERS: '2' });
  const ready = async () => (await fetch(`${adminUrl}/health/ready`)).status;
  await expect.poll(ready, PATIENT).toBe(200);

  const { back } = await exchangeDatabase(deployment.databaseUrl);
  await expect.poll(ready, PATIENT).toBe(503);
  const { json } = await process.waitForLine((line) => line.json?.msg === 'postgresql.unsuitable');
  expect(json).toMatchObject({
    level: 50,
    note: expect.stringMatching(
      /is another database than the one .*; if it is right, restart all gateways/,
    ),
  });

  await back();
  await expect.poll(ready, PATIENT).toBe(200);
  // Not one line for each connection that was tried.
  const lines = process.lines.filter((line) => line.json?.msg === 'postgresql.unsuitable');
  expect(lines.length).toBeLessThanOrEqual(3);
}, 60_000);

it('says so where search_path is another one all at once, and is ready again by itself', async (context) => {
  const deployment = await openDeployment();
  context.onTestFinished(() => deployment.close());
  const { adminUrl, process } = await deployment.replica();
  const ready = async () => (await fetch(`${adminUrl}/health/ready`)).status;
  await expect.poll(ready, PATIENT).toBe(200);
  const name = new URL(deployment.databaseUrl).pathname.slice(1);
  await deployment.query(`ALTER DATABASE "${name}" SET search_path = nowhere`);
  await deployment.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
  await expect.poll(ready, PATIENT).toBe(503);
  const { json } = await process.waitForLine((line) => line.json?.msg === 'postgresql.unsuitable');
  expect(json).toMatchObject({
    note: expect.stringMatching(/search_path was changed.*migrate nothing/),
  });
  await deployment.query(`ALTER DATABASE "${name}" RESET search_path`);
  await expect.poll(ready, PATIENT).toBe(200);
}, 60_000);
