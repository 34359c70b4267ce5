import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BetTimeline, BetTimelines } from '../../src/store/bets/timeline.ts';
import { createPrisma } from '../../src/store/schema/prisma.ts';
import type { SimulatedOperator } from '../../tools/simulator/operator.ts';
import { placedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { onServer } from '../support/server.ts';

const OPERATION_MEMBERS = [
  ...['answer', 'askedBy', 'attempts', 'delivery', 'operation', 'receivedAt', 'requestId'],
];

describe('POST /operator/bets', () => {
  let gateway: TestGateway;
  let alpha: SimulatedOperator;
  let beta: SimulatedOperator;
  beforeAll(async () => {
    gateway = await startTestGateway({ operators: { alpha: {}, beta: {}, gamma: {} } });
    alpha = gateway.operator('alpha');
    beta = gateway.operator('beta');
  });
  afterAll(async () => {
    await Promise.all([alpha.close(), beta.close()]);
    await gateway.close();
  });

  it('tells the bet as the gateway knows it: state, operations in order, every attempt', async () => {
    const bet = await placedBet(gateway);
    bet.wallet.misbehave('settle', { kind: 'status', status: 500 }, { calls: 1 });
    await bet.settle('10');
    await bet.settle('10');
    const shown = await alpha.bet(bet.transactionId);
    expect(shown.status).toBe(200);
    expect(shown.json).toMatchObject({
      transactionId: bet.transactionId,
      operatorUser: bet.player.user,
      userId: bet.player.userId,
      state: 'settled',
      amount: '100',
      currency: 'USD',
      operations: [
        { operation: 'place', attempts: [{ number: 1, result: 'accepted', status: 200 }] },
        { operation: 'settle', attempts: [{ number: 1, result: 'http_error', status: 500 }] },
        { operation: 'settle', attempts: [{ number: 1, result: 'accepted', status: 200 }] },
      ],
    });
    // Not the service's own message, in which the player and the token are the aggregator's.
    const { operations = [] }: Partial<BetTimeline> = shown.json ?? {};
    for (const operation of operations) {
      expect(Object.keys(operation).toSorted()).toEqual(OPERATION_MEMBERS);
    }
  });

  it('shows a promise that is still open', async () => {
    const bet = await placedBet(gateway);
    bet.wallet.misbehave('rollback', { kind: 'code', code: 100 }, { calls: 1 });
    await bet.rollback();
    expect((await alpha.bet(bet.transactionId)).json).toMatchObject({
      state: 'rolling_back',
      operations: [
        { operation: 'place' },
        {
          operation: 'rollback',
          answer: { status: 200 },
          delivery: { state: 'pending' },
          attempts: [{ result: 'declined', code: 100 }],
        },
      ],
    });
  });

  it('shows no token, ours or theirs, and nothing of the service’s own message (I8)', async () => {
    const bet = await placedBet(gateway);
    await bet.settle('10', 'cashout', bet.player.token);
    const { body } = await alpha.bet(bet.transactionId);
    expect(body).not.toContain(bet.player.token);
    expect(body).not.toContain(bet.player.operatorToken);
    expect(body).not.toContain('35.168.110.10'); // the player's address, in every place
  });

  it('answers another operator’s bet exactly as one that does not exist: 404/2 (I8)', async () => {
    const bet = await placedBet(gateway);
    const foreign = await beta.bet(bet.transactionId);
    const missing = await beta.bet('7f8a5b8e-0000-4000-8000-000000000000');
    expect([foreign.status, foreign.json?.code]).toEqual([404, 2]);
    expect([foreign.status, foreign.body]).toEqual([missing.status, missing.body]);
    expect(foreign.headers['content-length']).toBe(missing.headers['content-length']);
  });

  it('goes on, like statements, while the operator is suspended: its open bets do too', async () => {
    const bet = await placedBet(gateway);
    await gateway.reconfigure('alpha', { status: 'suspended' });
    const shown = await alpha.bet(bet.transactionId);
    const statement = await alpha.call('/operator/statements', { day: '2026-01-01' });
    await gateway.reconfigure('alpha', {});
    expect(shown.status).toBe(200);
    expect([statement.status, statement.json?.code]).toEqual([404, 2]);
  });

  // Last: what comes right after so much work may find too little time left.
  it('leaves out answers in the middle of thousands of attempts, and an operator ends no process by them (I7)', async () => {
    const bet = await placedBet(gateway);
    bet.wallet.misbehave('rollback', { kind: 'code', code: 100 }, { calls: 1 });
    await bet.rollback();
    // Refused every 30 s for three days, with a page that takes six times its bytes in JSON.
    await onServer(gateway.databaseUrl, (client) =>
      client.query(
        `INSERT INTO attempts (operation_id, number, started_at, latency_ms, result, wallet_type, wallet_body)
         SELECT id, n, now(), 5, 'http_error', 'text/html', convert_to(repeat(E'\\x01', 4096), 'UTF8')
           FROM operations, generate_series(2, 8640) n WHERE transaction_id = $1 AND operation = 'rollback'`,
        [bet.transactionId],
      ),
    );
    const shown = await alpha.bet(bet.transactionId);
    expect(shown.status).toBe(200);
    expect(shown.body.length).toBeLessThan(10_000_000);
    const { operations }: Pick<BetTimeline, 'operations'> = JSON.parse(shown.body);
    expect(operations[0]?.attempts[0]?.answer).toMatchObject({ truncated: false });
    const attempts = operations[1]?.attempts ?? [];
    expect(attempts).toHaveLength(8_640);
    const whole = { contentType: 'text/html', body: '\x01'.repeat(4096), truncated: false };
    const leftOut = { contentType: 'text/html', body: '', truncated: true };
    expect(attempts[100]?.answer).toEqual(whole);
    expect(attempts[4_000]).toMatchObject({ number: 4_001, result: 'http_error', answer: leftOut });
    expect(attempts.at(-100)?.answer).toEqual(whole);
    // The command line shows everything.
    const prisma = createPrisma(gateway.databaseUrl);
    const all = await new BetTimelines(prisma, undefined, Number.MAX_SAFE_INTEGER).find(
      bet.transactionId,
      undefined,
    );
    await prisma.$disconnect();
    expect(all?.operations[1]?.attempts[4_000]?.answer).toEqual(whole);
  });
});
