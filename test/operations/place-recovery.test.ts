import type { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placeBody, rollbackBody } from '../../src/protocol/callback-bodies.ts';
import { type TestBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { betState } from '../support/journal.ts';
import { onServer } from '../support/server.ts';

const TOTAL_MS = 2_000;

let gateway: TestGateway;
let replica: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    gateway: { deadline: { totalMs: TOTAL_MS, reserveMs: 600 } },
  });
  replica = await gateway.replica();
});
afterAll(() => gateway.close());

const stateOf = (bet: TestBet) => betState(gateway.databaseUrl, bet.transactionId);
const unknownPlaces = (where: TestGateway) =>
  where.metric('gateway_unknown_outcomes_total', { operator: 'alpha', operation: 'place' });
const placeAt = (where: TestGateway, { slip }: TestBet) =>
  where.service.call('POST', '/payment/bet', placeBody(slip));
const rollbackAt = (where: TestGateway, { slip }: TestBet) =>
  where.service.call('PUT', '/payment/bet', rollbackBody(slip, 10));

async function sql(text: string, values: readonly unknown[]): Promise<void> {
  await onServer(gateway.databaseUrl, (client) => client.query(text, [...values]));
}

/** @param lease how long its process still owns it */
async function leftInFlight(lease: string): Promise<TestBet> {
  const bet = await unplacedBet(gateway);
  await sql(
    `INSERT INTO bets (transaction_id, operator_id, player_id, session_id, amount, currency,
                       generation, place, busy_operation, busy_attempt, busy_until)
     SELECT $1, operator_id, player_id, id, '100', 'USD', 1, 'in_flight', 'place',
            gen_random_uuid(), clock_timestamp() + $2::interval
       FROM sessions WHERE token_hash = sha256($3)`,
    [bet.transactionId, lease, Buffer.from(bet.player.token)],
  );
  return bet;
}

describe('a place that a killed process left in flight', () => {
  it('is unknown when its lease is over: its copy is answered 100, unsent (I2, I5)', async () => {
    const bet = await leftInFlight('0 s');
    const before = await unknownPlaces(gateway);
    const answer = await bet.place();
    expect([answer.status, answer.json?.code]).toEqual([400, 100]);
    expect(await stateOf(bet)).toMatchObject({ place: 'unknown', busy: null });
    expect(await unknownPlaces(gateway)).toBe(before + 1);
    expect(bet.arrivals()).toEqual([]);
    expect((await bet.rollback()).status).toBe(200);
    expect(bet.arrivals()).toEqual(['rollback']);
  });

  it('stays unknown: a process that thaws finds its lease over (I3, I6)', async () => {
    const bet = await unplacedBet(gateway);
    const gate = bet.wallet.hold('place', { transactionId: bet.transactionId, point: 'after' });
    const frozen = bet.place();
    await gate.arrived;
    const end = 'UPDATE bets SET busy_until = clock_timestamp() WHERE transaction_id = $1';
    await sql(end, [bet.transactionId]);
    const copy = await placeAt(replica, bet);
    expect(copy.json).toMatchObject({ code: 100 });
    expect((await rollbackAt(replica, bet)).status).toBe(200);
    gate.release();
    expect((await frozen).body).toBe(copy.body);
    expect(await stateOf(bet)).toMatchObject({
      place: 'unknown',
      rollback: 'confirmed',
      attempts: ['accepted', 'accepted'],
    });
    expect(bet.arrivals()).toEqual(['place', 'rollback']);
    expect(bet.balance()).toBe('1000');
  });
});

describe('an intent that is committed after its caller gave up', () => {
  /** Locks this bet's row while `during` runs, as a slow disk would. */
  async function whileStuck(bet: TestBet, during: (client: Client) => Promise<void>) {
    await onServer(gateway.databaseUrl, async (client) => {
      await client.query('BEGIN');
      const insert = `INSERT INTO bets (transaction_id, generation, place) VALUES ($1, 1, 'unseen')`;
      await client.query(insert, [bet.transactionId]);
      await during(client);
      await client.query('ROLLBACK');
    });
  }

  const closed = (bet: TestBet) => expect.poll(() => stateOf(bet)).toMatchObject({ busy: null });

  it('is closed as never sent (I3, I5)', async () => {
    const bet = await unplacedBet(gateway);
    await whileStuck(bet, async () => {
      const answer = await bet.place();
      expect([answer.status, answer.json?.code]).toEqual([400, 100]);
    });
    await closed(bet);
    expect(await stateOf(bet)).toMatchObject({ place: 'not_sent', attempts: ['database'] });
    expect((await bet.place()).json).toMatchObject({ code: 100 });
    expect((await bet.rollback()).status).toBe(200);
    expect(bet.arrivals()).toEqual([]);
  });

  it('agrees with a rollback that came meanwhile: nothing is ever sent (I5, I6)', async () => {
    const bet = await unplacedBet(gateway);
    await whileStuck(bet, async () => {
      expect((await bet.place()).json).toMatchObject({ code: 100 });
      const undoing = await bet.rollback();
      expect(undoing.status).toBe(503);
    });
    // Either of the two may have been written first.
    const over = { place: expect.stringMatching(/^(not_sent|unseen)$/) };
    await expect.poll(() => stateOf(bet)).toMatchObject(over);
    expect((await bet.rollback()).status).toBe(200);
    expect((await bet.place()).json).toMatchObject({ code: 8 });
    expect(bet.wallet.arrivals(bet.transactionId, 'place')).toEqual([]);
    expect(bet.balance()).toBe('1000');
  });
});
