import { expect, it, onTestFinished } from 'vitest';
import { placedBet, unplacedBet } from '../../support/bet.ts';
import { startTestGateway } from '../../support/gateway.ts';
import { connect } from '../../support/server.ts';

/** More than the connections of all callbacks except places (`src/wiring/storage.ts`). */
const STUCK = 20;
const OTHERS = 10;

it('a process of the server that stands still inside its places holds up the results of no other bet (I7)', async () => {
  const gateway = await startTestGateway();
  onTestFinished(() => gateway.close());
  const player = await gateway.player();
  const bets = (make: typeof placedBet, count: number) =>
    Promise.all(Array.from({ length: count }, () => make(gateway, { player, amount: '1' })));
  const others = await bets(placedBet, OTHERS);
  const stuck = await bets(unplacedBet, STUCK);
  const server = await connect(gateway.databaseUrl);
  onTestFinished(() => server.end());
  await server.query('BEGIN');
  await server.query(
    `INSERT INTO bets
     SELECT (jsonb_populate_record(NULL::bets, to_jsonb(b) || jsonb_build_object('transaction_id', id))).*
       FROM (SELECT * FROM bets LIMIT 1) b CROSS JOIN unnest($1::text[]) id`,
    [stuck.map(({ transactionId }) => transactionId)],
  );
  const held = Promise.all(stuck.map((bet) => bet.rollback()));
  const answers = await Promise.all(
    others.flatMap((bet) => [
      bet.rollback(),
      unplacedBet(gateway, { player }).then((one) => one.rollback()),
    ]),
  );
  const repeated = await Promise.all(others.map((bet) => bet.rollback()));
  expect([...answers, ...repeated].map(({ status }) => status)).toEqual(
    [...answers, ...repeated].map(() => 200),
  );
  await server.query('ROLLBACK');
  await held;
  for (const bet of stuck) expect((await bet.rollback()).status).toBe(200);
});
