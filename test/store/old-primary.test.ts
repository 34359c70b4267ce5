import { expect, it, onTestFinished } from 'vitest';
import { placedBet } from '../support/bet.ts';
import { rowsOf } from '../support/server.ts';
import { openServerPair } from '../support/server-pair.ts';
import { PATIENT_MS } from '../support/timing.ts';

const PATIENT = { timeout: PATIENT_MS };

/**
 * A primary whose standby was made the primary in its place, and which goes on all the same: the address leads to the
 * new one, but nobody has ended the connections to the old.
 */
it('a failover past connections that stay leaves them: the server before is asked nothing more (I3, I8)', {
  timeout: 120_000,
}, async () => {
  const { primary, standby, gateway, pointTo } = await openServerPair(false);
  await rowsOf(primary.url, `ALTER SYSTEM SET synchronous_standby_names = '*'`);
  await rowsOf(primary.url, 'SELECT pg_reload_conf()');
  const before = await placedBet(gateway);
  expect((await before.settle('20')).status).toBe(200);
  await expect.poll(standby.isLevel, PATIENT).toBe(true);
  await standby.promote();
  pointTo(standby);

  // On a connection that was not needed before, this process finds the new one.
  const operator = gateway.operator('alpha');
  onTestFinished(() => operator.close());
  expect((await operator.bet(before.transactionId)).status).toBe(200);

  const other = await gateway.replica();
  const player = await other.player({ user: 'late' });
  const bet = await placedBet(other, { player });
  expect((await bet.at(gateway).settle('20')).status).toBe(200);
  expect((await gateway.service.balance(player)).status).toBe(200);
  // The old one would wait for its standby.
  expect((await before.unsettle()).status).toBe(200);
});
