import type { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ownAttemptId } from '../../../src/store/bets/asked-by.ts';
import { openTestJournal, type TestJournal } from '../../support/journal.ts';
import { connect } from '../../support/server.ts';
import { wagergate } from '../support/command-line.ts';

const BET = 'bet-1';
const PLACE = '{"transactionId":"bet-1","amount":12.10}';

let journal: TestJournal;
let client: Client;
let env: { readonly DATABASE_URL: string };
beforeAll(async () => {
  journal = await openTestJournal();
  env = { DATABASE_URL: journal.url };
  client = await connect(journal.url);
  await writeStory();
});
afterAll(async () => {
  await client.end();
  await journal.close();
});

/** A place that the wallet left unanswered, and its rollback, which waits for the wallet. */
async function writeStory(): Promise<void> {
  await client.query(
    `INSERT INTO bets (transaction_id, operator_id, player_id, amount, currency, generation, place,
                       rollback, rollback_time, created_at)
     VALUES ($1, 'alpha', $2, '12.10', 'USD', 1, 'unknown', 'promised', 'now',
             '2026-01-02T03:04:05.006Z')`,
    [BET, journal.owner.playerId],
  );
  await operation('place', '2026-01-02T03:04:05.006Z', PLACE);
  await attempt(1, '2026-01-02T03:04:05.010Z', 4_012, 'timeout', 'nothing\u{1b}[2J for\n4000 ms', {
    status: 400,
    body: '{"code":100,"message":"Wallet unavailable"}',
  });
  await operation('rollback', '2026-01-02T03:04:10.000Z', '{}', { status: 200, body: '{}' });
  await attempt(1, '2026-01-02T03:04:10.001Z', 20, 'http_error', undefined);
  await client.query(
    `INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state,
                             transaction_time, next_attempt_at, dead_at)
     VALUES (currval('operations_id_seq'), 'alpha', $1, 'rollback', 'pending', 'now', now(), now())`,
    [BET],
  );
}

interface Said {
  readonly status: number;
  readonly body: string;
}

async function operation(name: string, at: string, body: string, answer?: Said): Promise<void> {
  await client.query(
    `INSERT INTO operations (transaction_id, operator_id, operation, attempt_id, request_id, body,
                             answer_status, answer_body, created_at)
     VALUES ($1, 'alpha', $2, gen_random_uuid(), 'r', $3, $4, $5, $6)`,
    [BET, name, Buffer.from(body), answer?.status, answer?.body, at],
  );
}

async function attempt(
  number: number,
  at: string,
  latencyMs: number,
  result: string,
  error: string | undefined,
  answer?: Said,
): Promise<void> {
  await client.query(
    `INSERT INTO attempts (operation_id, number, started_at, latency_ms, result, status, error,
                           answer_status, answer_body)
     VALUES (currval('operations_id_seq'), $1, $2, $3, $4, $5, $6, $7, $8)`,
    [number, at, latencyMs, result, error ? null : 503, error, answer?.status, answer?.body],
  );
}

describe('wagergate bet', () => {
  it('names the freebet that a bet was placed with', async () => {
    await client.query(
      `INSERT INTO bets (transaction_id, operator_id, generation, place)
       VALUES ('free-bet', 'alpha', 1, 'accepted')`,
    );
    await client.query(
      `INSERT INTO operations (transaction_id, operator_id, operation, attempt_id, body)
       VALUES ('free-bet', 'alpha', 'place', gen_random_uuid(), $1)`,
      [Buffer.from('{"bonusId":90001,"bonusTemplateId":501,"bonusAmount":5.00}')],
    );
    const { stdout } = await wagergate(['bet', 'free-bet'], { env });
    expect(stdout).toContain('freebet     bonus 90001 of template 501, 5.00\n');
  });

  it('tells a refused cashout from a result that was refused, with the amounts that were sent', async () => {
    await client.query(
      `INSERT INTO bets (transaction_id, operator_id, generation, place)
       VALUES ('two-results', 'alpha', 1, 'accepted')`,
    );
    for (const body of [
      '{"amount":5.50,"resultType":"cashout","type":2}',
      '{"amount":40.00,"resultType":"won","type":2}',
    ]) {
      await client.query(
        `INSERT INTO operations (transaction_id, operator_id, operation, attempt_id, body)
         VALUES ('two-results', 'alpha', 'settle', gen_random_uuid(), $1)`,
        [Buffer.from(body)],
      );
    }
    const { stdout } = await wagergate(['bet', 'two-results'], { env });
    expect(stdout).toMatch(
      /settle +no answer yet +cashout 5\.50\n.*settle +no answer yet +won 40\.00\n/,
    );
  });

  it('tells the story of a bet as a person reads it', async () => {
    const { code, stdout, stderr } = await wagergate(['bet', BET], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { userId } = journal.owner;
    const gap = '\u{fffd}';
    expect(stdout).toBe(
      `\
bet bet-1: rolling_back

operator    alpha
player      ann (userId ${userId})
stake       12.10 USD
place       unknown
settlement  none
rollback    promised
in flight   -
created     2026-01-02 03:04:05.006

time (UTC)               what         result           took  details
-----------------------  -----------  ------------  -------  ---------------------------
2026-01-02 03:04:05.006  place        answered 400           code 100 Wallet unavailable
2026-01-02 03:04:05.010    attempt 1  timeout       4012 ms  nothing${gap}[2J for 4000 ms
2026-01-02 03:04:10.000  rollback     answered 200           delivery 1 pending
2026-01-02 03:04:10.001    attempt 1  http_error      20 ms  HTTP 503
`,
    );
  });

  it('gives all of it as JSON, with the requests as they came', async () => {
    const { code, stdout } = await wagergate(['bet', BET, '--json'], { env });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      transactionId: BET,
      operator: 'alpha',
      amount: '12.10',
      state: 'rolling_back',
      operations: [
        { operation: 'place', request: PLACE, attempts: [{ result: 'timeout', latencyMs: 4_012 }] },
        { operation: 'rollback', delivery: { id: '1', state: 'pending' } },
      ],
    });
  });

  it('says of what a person holds that it is held', async () => {
    await client.query(
      `INSERT INTO operator_holds (operator_id, counted_at, hold_since) VALUES ('alpha', now(), now())`,
    );
    const { stdout } = await wagergate(['bet', BET], { env });
    await client.query('DELETE FROM operator_holds');
    expect(stdout).toContain('delivery 1 held\n');
  });

  it('says that the gateway itself began a rollback, and that nobody was answered', async () => {
    const transactionId = 'never-rolled-back';
    await client.query(
      `INSERT INTO bets (transaction_id, operator_id, generation, place, rollback)
       VALUES ($1, 'alpha', 1, 'unknown', 'promised')`,
      [transactionId],
    );
    await client.query(
      `INSERT INTO operations (transaction_id, operator_id, operation, attempt_id, body,
                               answer_status, answer_body)
       VALUES ($1, 'alpha', 'rollback', $2, '{}', 200, '{}')`,
      [transactionId, ownAttemptId()],
    );
    const { stdout } = await wagergate(['bet', transactionId], { env });
    expect(stdout).toMatch(/^\S+ \S+ +rollback +by the gateway *$/m);
    const { stdout: json } = await wagergate(['bet', transactionId, '--json'], { env });
    const [rollback] = JSON.parse(json).operations;
    expect(rollback).toMatchObject({ askedBy: 'gateway', answer: null });
  });

  it('says so if there is no such bet', async () => {
    const { code, stdout, stderr } = await wagergate(['bet', 'bet-01'], { env });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^error: no bet bet-01 in the journal: .* goes when its month is pruned: .* --csv`\)\n$/,
    );
  });
});
