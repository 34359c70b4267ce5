import { expect, it, onTestFinished } from 'vitest';
import { placedBet } from '../support/bet.ts';
import { startTestGateway } from '../support/gateway.ts';
import { onServer } from '../support/server.ts';

/** The exact error of PostgreSQL 15 for writes, while it answers everything else. */
const REFUSES = `
  CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE EXCEPTION USING ERRCODE = '54000',
      MESSAGE = 'database is not accepting commands to avoid wraparound data loss in database "x"';
  END $$`;
const TABLES = ['bets', 'operations', 'attempts', 'deliveries', 'players', 'sessions'];

it('a server that gives out no transaction ids is one that does not answer: 503, and what was lost is written when it does (I3, I5)', async () => {
  const gateway = await startTestGateway();
  onTestFinished(() => gateway.close());
  const alpha = gateway.operator('alpha');
  onTestFinished(() => alpha.close());
  const bet = await placedBet(gateway);
  const run = (text: string) =>
    onServer(gateway.databaseUrl, async (client) => (await client.query(text)).rows);
  const onEach = (statement: (table: string) => string) => run(TABLES.map(statement).join(';'));
  await run(REFUSES);
  bet.wallet.misbehave('settle', { kind: 'delay', ms: 600 }, { calls: 1 });
  const settled = bet.settle('10');
  await expect.poll(() => bet.wallet.arrivals(bet.transactionId, 'settle')).toHaveLength(1);
  await onEach(
    (table) =>
      `CREATE TRIGGER refuse BEFORE INSERT OR UPDATE OR DELETE ON ${table} EXECUTE FUNCTION refuse()`,
  );

  expect((await settled).status).toBe(503);
  const session = { operatorUser: 'anna', currency: 'USD', operatorToken: 'annas-operator-token' };
  expect((await alpha.openSession(session)).status).toBe(503);

  await onEach((table) => `DROP TRIGGER refuse ON ${table}`);
  // Well before the lease of its attempt ends, which lasts 15 s.
  await expect
    .poll(() => run('SELECT settlement, busy_operation FROM bets'))
    .toEqual([{ settlement: 'settled', busy_operation: null }]);
  expect((await bet.settle('10')).status).toBe(200);
  expect(bet.wallet.arrivals(bet.transactionId, 'settle')).toHaveLength(1);
});
