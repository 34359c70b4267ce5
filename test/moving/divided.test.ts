import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { sql } from '../deliveries/support/deliveries.ts';
import { acceptedBet } from '../money-safety/support/bets.ts';
import { QUICK } from '../money-safety/support/patience.ts';
import type { TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { importPlayers } from './support/old-gateway.ts';

let first: TestGateway;
let second: TestGateway;
beforeAll(async () => {
  // In the second installation the id `alpha` belongs to another operator; the wallet is the same in both.
  const another = { secrets: ['secret-of-the-other-alpha'] };
  const wallet = { secrets: ['alpha-wallet-secret'] };
  const operators = { alpha: { wallet: another }, 'alpha-two': { wallet } };
  const options = { worker: true, gateway: QUICK, operators };
  first = await startTestGateway({ worker: true, gateway: QUICK });
  second = await startTestGateway(options);
  await second.reconfigure('alpha-two', { wallet: { baseUrl: first.wallet('alpha').baseUrl } });
});
afterAll(async () => {
  await second.close();
  await first.close();
});

const open = () =>
  sql(first, "SELECT FROM deliveries WHERE operator_id = 'alpha' AND state = 'pending'");

/** The same bet, whose callbacks go to the second installation from now on. */
const at = (bet: TestBet) => bet.at(second);

describe('an operator that goes from one installation to another', { timeout: 60_000 }, () => {
  it('is an operator that moves: players first, then what was promised, then everything', async () => {
    const bets = await Promise.all([1, 2, 3, 4].map(() => acceptedBet(first)));
    const [fresh, corrected, undone, owed] = bets as [TestBet, TestBet, TestBet, TestBet];
    for (const bet of [corrected, undone]) expect((await bet.settle('20')).status).toBe(200);
    const { wallet } = owed;
    wallet.misbehave('rollback', { kind: 'status', status: 500 }, { calls: 1 });
    expect((await owed.rollback()).status).toBe(200);

    const players = bets.map(({ player: { user, userId } }) => ({
      ...{ operatorId: 'alpha-two', user, userId },
    }));
    const taken = await importPlayers(second, players);
    expect(taken.map(({ kind }) => kind)).toEqual(players.map(() => 'imported'));
    await vi.waitFor(async () => expect(await open()).toEqual([]), { timeout: 20_000 });

    expect((await at(fresh).settle('30')).status).toBe(200);
    expect((await at(corrected).settle('50')).status).toBe(200);
    expect((await at(undone).unsettle()).status).toBe(200);
    expect((await at(owed).rollback()).status).toBe(200);
    expect(bets.map((bet) => bet.balance())).toEqual(['930', '950', '900', '1000']);
    // Its frames must be opened again: a session belongs to the installation that opened it.
    expect((await second.service.profile(fresh.player.token)).json).toMatchObject({ code: 3 });
    const { user: operatorUser, operatorToken, userId } = fresh.player;
    const operator = second.operator('alpha-two');
    const opened = await operator.openSession({ operatorUser, operatorToken, currency: 'USD' });
    await operator.close();
    expect(opened.session?.userId).toBe(userId);
  });
});
