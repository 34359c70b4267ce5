import { expect, it, onTestFinished } from 'vitest';
import { placedBet } from '../support/bet.ts';
import { startTestGateway } from '../support/gateway.ts';
import { connect, onServer } from '../support/server.ts';

/** More than any pool has connections. */
const CALLS = 30;

it('is ready while somebody keeps the table of sessions locked: PostgreSQL answers, and what needs none goes on', async () => {
  const gateway = await startTestGateway();
  onTestFinished(() => gateway.close());
  const { app, readiness } = gateway.parts.adminServer();
  onTestFinished(() => app.close());
  readiness.started();
  const bet = await placedBet(gateway);
  const somebody = await connect(gateway.databaseUrl);
  onTestFinished(() => somebody.end());
  await somebody.query('BEGIN; LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE');
  const alpha = gateway.operator('alpha');
  onTestFinished(() => alpha.close());
  const asked = Array.from({ length: CALLS }, (_, call) =>
    alpha.call('/operator/sessions', {
      operatorUser: `player-${call}`,
      currency: 'USD',
      operatorToken: `token-${call}`,
    }),
  );
  const waiting = () =>
    onServer(gateway.databaseUrl, async (client) => {
      const { rows } = await client.query(
        "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
      );
      return rows.length;
    });
  await expect.poll(waiting).toBeGreaterThanOrEqual(10);
  expect(await readiness.report()).toMatchObject({
    status: 'ready',
    dependencies: { postgresql: 'up' },
  });
  expect((await bet.settle('25')).status).toBe(200);
  await somebody.query('ROLLBACK');
  await Promise.all(asked);
});
