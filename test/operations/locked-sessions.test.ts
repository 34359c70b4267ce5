import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { placedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { connect } from '../support/server.ts';

const TOTAL_MS = 2_000;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ worker: true, gateway: { deadline: { totalMs: TOTAL_MS } } });
});
afterAll(() => gateway.close());

it('a rollback is promised in time while somebody keeps the table of sessions locked, and sent afterwards (I1, I4)', async () => {
  const bet = await placedBet(gateway);
  const somebody = await connect(gateway.databaseUrl);
  onTestFinished(() => somebody.end());
  await somebody.query('BEGIN; LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE');
  const answer = await bet.rollback();
  expect(answer.status).toBe(200);
  expect(bet.balance()).toBe('900');
  await somebody.query('ROLLBACK');
  await expect.poll(() => bet.balance()).toBe('1000');
});
