import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Clock } from '../../src/domain/clock.ts';
import { sign, signingKeys } from '../../src/protocol/signature.ts';
import { BetTimelines } from '../../src/store/bets/timeline.ts';
import { placedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { onServer } from '../support/server.ts';

/** One operator's limit at one process: 100 requests a second, 1000 at once. */

let standsAtMs: number | undefined;
let aheadMs = 0;
/** Can be stopped, so that no request is gained during a test. */
const clock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => standsAtMs ?? performance.now() + aheadMs,
};

/** Jumps far ahead, so that every bucket is full again, and stops the clock. */
function stand(): number {
  aheadMs += 600_000;
  return Math.floor(performance.now() + aheadMs);
}

/** Continues from where it stopped: a monotonic clock never goes back. */
function goOn(): void {
  aheadMs = (standsAtMs ?? 0) - performance.now();
  standsAtMs = undefined;
}

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ clock, operators: { alpha: {}, beta: {} } });
});
afterAll(() => gateway.close());

it('refuses one operator’s flood by 429/10 with Retry-After, and no other’s requests (I7)', async () => {
  const [alpha, beta] = [gateway.operator('alpha'), gateway.operator('beta')];
  standsAtMs = stand();
  const ask = (index: number) =>
    index % 2 === 0 ? alpha.bet('x') : alpha.revokeSessions({ operatorUser: 'nobody' });

  const allowed = await Promise.all(Array.from({ length: 1_000 }, (_, index) => ask(index)));
  expect(new Set(allowed.map(({ status }) => status))).toEqual(new Set([404, 200]));

  const refused = await ask(0);
  expect([refused.status, refused.json?.code]).toEqual([429, 10]);
  expect(refused.headers['retry-after']).toBe('1');
  const labels = { operator: 'alpha', reason: 'rate' };
  expect(await gateway.metric('gateway_rejected_total', labels)).toBe(1);
  expect((await beta.bet('x')).status).toBe(404);

  // A flood of wrongly signed requests in alpha's name uses nothing of beta's or alpha's limit.
  const forged = await beta.call('/operator/bets', { cid: 'alpha-key' });
  expect(forged.status).toBe(401);

  standsAtMs += 1_000;
  const after = await Promise.all(Array.from({ length: 101 }, (_, index) => ask(index)));
  expect(after.filter(({ status }) => status === 429)).toHaveLength(1);
  goOn();
  await Promise.all([alpha.close(), beta.close()]);
});

it('charges the lines of a statement, whose day may have a million of them (I7)', async () => {
  await onServer(gateway.databaseUrl, (client) =>
    client.query(
      `INSERT INTO books_statements (operator_id, day, starts_at, ends_at, time_zone, closed_at,
       written_in, operation_id, number, movements, sha256, totals, open, open_count)
     SELECT operator, '2026-11-20', '2026-11-20', '2026-11-21', 'UTC', now(),
       pg_current_xact_id(), 0, 1, 150000, repeat('0', 64), '[]', '[]', 0
     FROM unnest(ARRAY['alpha', 'beta']) AS operator`,
    ),
  );
  const [alpha, beta] = [gateway.operator('alpha'), gateway.operator('beta')];
  standsAtMs = stand();
  const ask = (operator: typeof alpha, accept: string) =>
    operator.call('/operator/statements', { day: '2026-11-20' }, { headers: { accept } });

  expect((await ask(alpha, 'text/csv')).status).toBe(200);
  const refused = await ask(alpha, 'text/csv');
  expect([refused.status, refused.json?.code]).toEqual([429, 10]);
  expect(refused.headers['retry-after']).toBe('10');
  // Its sums cost next to nothing, and the other operator has its own lines.
  expect((await ask(alpha, 'application/json')).status).toBe(200);
  expect((await alpha.bet('x')).status).toBe(404);
  expect((await ask(beta, 'text/csv')).status).toBe(200);
  standsAtMs += 11_000;
  expect((await ask(alpha, 'text/csv')).status).toBe(200);
  goOn();
  await Promise.all([alpha.close(), beta.close()]);
});

describe('a bet with a thousand attempts, which is an answer of megabytes', () => {
  let body: string;
  beforeAll(async () => {
    // The clock stood: until its leap is over, requests count as late.
    const bet = await vi.waitFor(() => placedBet(gateway), 15_000);
    body = JSON.stringify({ cid: 'alpha-key', transactionId: bet.transactionId });
    // Six bytes of JSON each: of what is shown (1 MiB), more than the system buffers for a client that does not
    // read.
    await onServer(gateway.databaseUrl, (client) =>
      client.query(
        `INSERT INTO attempts (operation_id, number, started_at, latency_ms, result, wallet_body)
         SELECT id, n + 1, now(), 5, 'http_error', convert_to(repeat(E'\\x01', 4096), 'UTF8')
           FROM operations, generate_series(1, 1000) n WHERE transaction_id = $1`,
        [bet.transactionId],
      ),
    );
  });

  /** Sends a request and reads nothing of the answer. */
  async function askAndWait(): Promise<Socket> {
    const { port } = new URL(gateway.baseUrl);
    const [key] = signingKeys(['alpha-api-secret-that-is-long-enough']);
    if (key === undefined) throw new Error('no key');
    const socket = connect({ port: Number(port), host: '127.0.0.1' });
    socket.on('error', () => socket.destroy()).pause();
    await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
    socket.write(
      `POST /operator/bets HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\nx-sign-jws: ${sign(body, key)}\r\n\r\n${body}`,
    );
    return socket;
  }

  it('is made for one operator eight times at most, while nobody takes it (I7)', async () => {
    // Full buckets: eight such answers are most of what an operator may have at once.
    standsAtMs = stand();
    const looked = vi.spyOn(BetTimelines.prototype, 'find');
    const sockets = await Promise.all(Array.from({ length: 20 }, askAndWait));
    await vi.waitFor(() => expect(looked).toHaveBeenCalledTimes(8), 15_000);
    // Another operator does not wait for them, and there is no ninth meanwhile.
    const beta = gateway.operator('beta');
    expect((await beta.bet('x')).status).toBe(404);
    expect(looked).toHaveBeenCalledTimes(9);
    // A client that leaves makes room for the next: the last of those that wait.
    for (const socket of sockets) socket.destroy();
    const alpha = gateway.operator('alpha');
    await alpha.bet('x');
    await Promise.allSettled(looked.mock.results.map(({ value }) => value));
    looked.mockRestore();
    goOn();
    await Promise.all([alpha.close(), beta.close()]);
  });
});
