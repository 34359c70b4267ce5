import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { compareBooks } from '../../tools/simulator/books.ts';
import type { Misbehaviour } from '../../tools/simulator/wallet/misbehaviour.ts';
import { unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { betState } from '../support/journal.ts';

const TOTAL_MS = 2_600;
const DELIVERED_MS = 20_000;
const BREAKER_ASIDE = { breaker: { minRequests: 100_000 } };

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    // On a busy machine a rollback may be promised, and must then be delivered.
    worker: true,
    gateway: { deadline: { totalMs: TOTAL_MS, reserveMs: 600 } },
    operators: {
      alpha: { wallet: BREAKER_ASIDE },
      hasty: { wallet: { ...BREAKER_ASIDE, timeoutMs: 100 } },
      gone: { wallet: BREAKER_ASIDE },
      elsewhere: { wallet: { ...BREAKER_ASIDE, baseUrl: 'http://wallet.invalid/sportsbook' } },
    },
  });
});
afterAll(() => gateway.close());

const stateOf = (transactionId: string) => betState(gateway.databaseUrl, transactionId);
const debited = { effect: 'applied' } as const;

/** What a wallet does with a place, and the journal's word for it. */
const faults: [string, Misbehaviour, string][] = [
  ['hangs', { kind: 'hang' }, 'timeout'],
  ['debits and hangs', { kind: 'hang', ...debited }, 'timeout'],
  ['debits after everybody gave up', { kind: 'lateDebit' }, 'timeout'],
  ['answers when it is too late', { kind: 'delay', ms: TOTAL_MS }, 'timeout'],
  ['trickles its answer a byte at a time', { kind: 'trickle' }, 'timeout'],
  ['trickles even the status line', { kind: 'trickle', part: 'head' }, 'timeout'],
  ['resets the connection', { kind: 'reset' }, 'connection'],
  ['debits and resets the connection', { kind: 'reset', ...debited }, 'connection'],
  ['breaks off half-way', { kind: 'reset', partial: true, ...debited }, 'connection'],
  ['sends 200 MB', { kind: 'huge' }, 'bad_answer'],
  ['redirects', { kind: 'redirect' }, 'http_error'],
  ['sends an HTML page', { kind: 'html' }, 'bad_answer'],
  ['sends nothing with its 200', { kind: 'empty' }, 'bad_answer'],
  ['answers for another bet', { kind: 'wrongTransactionId' }, 'bad_answer'],
  ['sends 400 without a code', { kind: 'codeMissing' }, 'bad_answer'],
  ['sends 400 without a code after the debit', { kind: 'codeMissing', ...debited }, 'bad_answer'],
  ['says that it knows the bet', { kind: 'code', code: 8, ...debited }, 'bad_answer'],
  ['says that something behind it timed out', { kind: 'code', code: 10 }, 'bad_answer'],
  ['says system error', { kind: 'code', code: 100, ...debited }, 'bad_answer'],
  ['sends 201', { kind: 'status', status: 201, body: '{}', ...debited }, 'http_error'],
  ['sends 401', { kind: 'status', status: 401, body: '{"code":1,"message":""}' }, 'http_error'],
  ['sends 404', { kind: 'status', status: 404 }, 'http_error'],
  ['sends 422', { kind: 'status', status: 422, body: '{"code":7,"message":""}' }, 'http_error'],
  ['sends 500', { kind: 'status', status: 500, ...debited }, 'http_error'],
  ['sends 503', { kind: 'status', status: 503, body: '{"code":7,"message":""}' }, 'http_error'],
];

describe('a wallet that', () => {
  it.concurrent.for(faults)(
    '%s leaves a place unknown: 100 in time, one call, and a rollback ends it (I1, I2, I5)',
    async ([, fault, word], { expect }) => {
      const wallet = gateway.wallet('alpha');
      const transactionId = randomUUID();
      wallet.misbehave('place', fault, { transactionId });
      const player = await gateway.player();
      const placed = await gateway.service.place({ ...player, amount: '100', transactionId });
      if (placed.kind !== 'failed') throw new Error(`the place is ${placed.kind}`);
      expect([placed.result.status, placed.result.json?.code]).toEqual([400, 100]);
      // A busy machine may record it only after the answer.
      await expect.poll(async () => (await stateOf(transactionId))?.place).toBe('unknown');
      expect((await stateOf(transactionId))?.attempts[0]).toBe(word);
      expect((await placed.rollback).kind).toBe('confirmed');
      wallet.applyLate(transactionId);
      expect(wallet.arrivals(transactionId, 'place')).toHaveLength(1);
      await expect
        .poll(() => wallet.balance(player.user, 'USD'), { timeout: DELIVERED_MS })
        .toBe('1000');
    },
  );

  it('did all that has books that agree with the service’s', ({ expect }) => {
    const { service } = gateway;
    const { differences } = compareBooks(service.books(), [gateway.wallet('alpha').books()]);
    expect(service.books().bets).toHaveLength(faults.length);
    expect(differences).toEqual([]);
  });

  it('did all that is counted by its misbehaviour', async ({ expect }) => {
    const labels = { operator: 'alpha', operation: 'place' };
    for (const word of ['timeout', 'connection', 'http_error']) {
      const count = faults.filter(([, , expected]) => expected === word).length;
      const counted = { ...labels, result: word };
      expect(await gateway.metric('gateway_wallet_requests_total', counted)).toBe(count);
    }
    expect(await gateway.metric('gateway_unknown_outcomes_total', labels)).toBe(faults.length);
  });
});

describe('a place bet', () => {
  it('that was answered 100 stays so, though the wallet accepts it later (I3)', async ({
    expect,
  }) => {
    const bet = await unplacedBet(gateway);
    const gate = bet.wallet.hold('place', { transactionId: bet.transactionId, point: 'after' });
    const answer = await bet.place();
    expect(answer.json).toMatchObject({ code: 100 });
    gate.release();
    expect(bet.balance()).toBe('900');
    expect((await bet.place()).body).toBe(answer.body);
    expect((await bet.rollback()).status).toBe(200);
    expect(bet.balance()).toBe('1000');
    expect(bet.arrivals()).toEqual(['place', 'rollback']);
  });

  it('that finds nobody listening was not sent: 100, and nothing to roll back (I2)', async ({
    expect,
  }) => {
    const bet = await unplacedBet(gateway, { operatorId: 'gone' });
    await bet.wallet.down();
    const answer = await bet.place();
    expect([answer.status, answer.json?.code]).toEqual([400, 100]);
    expect(await stateOf(bet.transactionId)).toMatchObject({
      place: 'not_sent',
      attempts: ['connection'],
    });
    await bet.wallet.up();
    expect((await bet.place()).body).toBe(answer.body);
    expect((await bet.rollback()).status).toBe(200);
    expect(bet.arrivals()).toEqual([]);
  });
});
