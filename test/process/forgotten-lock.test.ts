import { readFile } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { createService } from '../../tools/simulator/service.ts';
import { SERVICE_SECRET } from '../support/gateway.ts';
import { connect, rowsOf } from '../support/server.ts';
import { openDeployment } from './support/deployment.ts';

const RUNBOOK = new URL('../../docs/runbooks/callbacks.md', import.meta.url);
const PATIENT = { timeout: 10_000, interval: 50 };

it('the holder of a lock is found with the log and the runbook', async () => {
  const deployment = await openDeployment({ gateway: { deadline: { totalMs: 2_000 } } });
  onTestFinished(() => deployment.close());
  const { process, baseUrl } = await deployment.replica({ ROLES: 'http' });
  const player = await deployment.player(baseUrl);
  const service = createService({ baseUrl, secret: SERVICE_SECRET, retryScale: 0 });
  onTestFinished(() => service.close());
  const { transactionId } = await service.place({ ...player, amount: '1' });
  const runbook = await readFile(RUNBOOK, 'utf8');
  const [waiting = '', open = ''] = [...runbook.matchAll(/```sql\n([^`]*)```/g)].map(
    ([, sql]) => sql,
  );
  const other = await connect(deployment.databaseUrl);
  onTestFinished(() => other.end());
  const pid = Number((await other.query('SELECT pg_backend_pid() AS pid')).rows[0]?.pid);
  const failures = () => process.lines.filter(({ json }) => json?.msg === 'callback.failed');

  await other.query('BEGIN; LOCK TABLE bets');
  const refused = service.place({ ...player, amount: '1' });
  const blockers = async () =>
    (await rowsOf(deployment.databaseUrl, waiting)).flatMap((row) => row.pg_blocking_pids);
  await expect.poll(blockers, PATIENT).toContain(pid);
  expect((await refused).result.json).toMatchObject({ code: 100 });
  await expect.poll(() => failures().length, PATIENT).toBeGreaterThan(0);
  await other.query('ROLLBACK');

  const before = failures().length;
  await other.query('BEGIN; SELECT FROM bets FOR UPDATE');
  await service.rollback(transactionId);
  await expect.poll(() => failures().length, PATIENT).toBeGreaterThan(before);
  expect((await rowsOf(deployment.databaseUrl, open)).map((row) => row.pid)).toContain(pid);
}, 120_000);
