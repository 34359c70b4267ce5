import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { placeBody } from '../../src/protocol/callback-bodies.ts';
import { asPlayer, type TestBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { betState } from '../support/journal.ts';
import { onServer } from '../support/server.ts';

const TOTAL_MS = 4_000;

let gateway: TestGateway;
let replica: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    gateway: { deadline: { totalMs: TOTAL_MS, reserveMs: 600 } },
    operators: { alpha: { wallet: { breaker: { minRequests: 100_000 } } } },
  });
  replica = await gateway.replica();
});
afterAll(() => gateway.close());

const stateOf = (bet: TestBet) => betState(gateway.databaseUrl, bet.transactionId);

const commits = (tries: {
  readonly mock: { readonly calls: readonly (readonly [{ readonly name: string }, unknown])[] };
}) => tries.mock.calls.filter(([{ name }]) => name === 'bet-commit-place').length;

/** A bet that the journal knows only from an update that overtook its place. */
async function updatedBet(): Promise<TestBet> {
  const bet = await unplacedBet(gateway);
  expect((await bet.update('1.5')).status).toBe(200);
  expect(await stateOf(bet)).toMatchObject({ place: 'unseen' });
  return bet;
}

describe('a place bet that another operation of its bet has overtaken', () => {
  it('is sent once and answered as usual (I5)', async () => {
    const bet = await updatedBet();
    const answer = await bet.place();
    expect(answer.status).toBe(200);
    expect((await bet.place()).body).toBe(answer.body);
    expect(bet.arrivals()).toEqual(['update', 'place']);
    expect(bet.balance()).toBe('900');
    expect(await stateOf(bet)).toMatchObject({ place: 'accepted', busy: null, amount: '100' });
  });

  it('is one of many on two replicas (I5, I6)', async () => {
    const bet = await updatedBet();
    const copies = Array.from({ length: 12 }, (_, index) =>
      (index % 2 === 0 ? gateway : replica).service.call(
        'POST',
        '/payment/bet',
        placeBody(bet.slip),
      ),
    );
    const answers = await Promise.all(copies);
    expect(answers.map(({ status }) => status)).toEqual(copies.map(() => 200));
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
    expect(bet.arrivals()).toEqual(['update', 'place']);
  });

  it('waits for the operation that is still in flight (I6)', async () => {
    const bet = await unplacedBet(gateway);
    const gate = bet.wallet.hold('update', { transactionId: bet.transactionId });
    const updating = bet.update('1.5');
    await gate.arrived;
    const placing = bet.place();
    await bet.isWaitedFor();
    expect(bet.arrivals()).toEqual(['update']);
    gate.release();
    expect((await updating).status).toBe(200);
    expect((await placing).status).toBe(200);
    expect(bet.arrivals()).toEqual(['update', 'place']);
  });

  it('is not sent for a session that is revoked between its last look and its commit', async () => {
    const bet = await updatedBet();
    const { transactionId } = bet;
    const tries = vi.spyOn(gateway.parts.journalDatabase, 'run');
    onTestFinished(() => tries.mockRestore());
    await onServer(gateway.databaseUrl, async (client) => {
      await client.query('BEGIN');
      await client.query('SELECT FROM bets WHERE transaction_id = $1 FOR UPDATE', [transactionId]);
      const placing = bet.place();
      // A commit found the row locked, and is repeated until it is free.
      await expect.poll(() => commits(tries)).toBeGreaterThan(1);
      const operator = gateway.operator('alpha');
      await operator.revokeSessions({ token: bet.player.token });
      await operator.close();
      await client.query('COMMIT');
      expect((await placing).json).toMatchObject({ code: 3 });
    });
    expect(bet.arrivals()).toEqual(['update']);
    expect(await stateOf(bet)).toMatchObject({ place: 'unseen', busy: null });
  });

  it('is refused to another player, to whom the bet does not belong (I8, I10)', async () => {
    const bet = await updatedBet();
    const stranger = await gateway.player();
    const token = JSON.stringify(stranger.token);
    expect((await bet.place({ ...asPlayer(stranger), token })).json).toMatchObject({ code: 5 });
    expect(bet.arrivals()).toEqual(['update']);
  });
});
