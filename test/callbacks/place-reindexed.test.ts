import { expect, it, onTestFinished } from 'vitest';
import { placeBody } from '../../src/protocol/callback-bodies.ts';
import { sql } from '../deliveries/support/deliveries.ts';
import { unplacedBet } from '../support/bet.ts';
import { startTestGateway } from '../support/gateway.ts';

/**
 * As while `REINDEX … CONCURRENTLY` makes a unique index anew: two inserts of one bet both find none of it, and the later one
 * then violates an index that its ON CONFLICT does not name. Indexes are written in the order of their numbers, which
 * the reindexing changes.
 */
const BEING_MADE = [
  `CREATE FUNCTION slowly(id TEXT) RETURNS TEXT IMMUTABLE LANGUAGE plpgsql
     AS $$ BEGIN PERFORM pg_sleep(0.3); RETURN id; END $$`,
  'CREATE UNIQUE INDEX bets_being_made ON bets (slowly(transaction_id))',
  'REINDEX INDEX CONCURRENTLY bets_pkey',
];

it('copies of a place at two replicas get one answer while an index of the bets is made anew (I5)', async () => {
  const gateway = await startTestGateway();
  onTestFinished(() => gateway.close());
  const replica = await gateway.replica();
  const bet = await unplacedBet(gateway);
  for (const statement of BEING_MADE) await sql(gateway, statement);
  const body = placeBody(bet.slip);
  const answers = await Promise.all(
    [gateway, replica].map(({ service }) => service.call('POST', '/payment/bet', body)),
  );
  const [first, second] = answers.map(({ status, body: text }) => ({ status, text }));
  expect(first?.status).toBe(200);
  expect(second).toEqual(first);
  expect(bet.arrivals()).toEqual(['place']);
});
