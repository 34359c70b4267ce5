import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placeBody, rollbackBody, settleBody } from '../../src/protocol/callback-bodies.ts';
import { sql } from '../deliveries/support/deliveries.ts';
import { QUICK } from '../money-safety/support/patience.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { importPlayers, OldGateway, openHere } from './support/old-gateway.ts';

let gateway: TestGateway;
let replica: TestGateway;
let old: OldGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ worker: true, gateway: QUICK });
  replica = await gateway.replica();
  old = new OldGateway(gateway);
});
afterAll(async () => {
  await old.close();
  await gateway.close();
});

/** A bet of the old gateway, whose player was not imported. */
async function betOfStranger() {
  const player = old.addPlayer();
  const token = old.openSession(player);
  const slip = gateway.service.slip({ ...player, token, currency: 'USD', amount: '100' });
  expect((await old.callback('POST', '/payment/bet', placeBody(slip))).status).toBe(200);
  const { transactionId } = slip;
  const wallet = gateway.wallet('alpha');
  const put = (body: string, at = gateway) => at.service.call('PUT', '/payment/bet', body);
  return {
    ...{ player, slip, transactionId, wallet },
    rollback: (at?: TestGateway) => put(rollbackBody(slip, 50), at),
    settle: () => put(settleBody(slip, { amount: '20', resultType: 'won', token: undefined })),
    balance: () => wallet.balance(player.user, 'USD'),
    arrivals: () => wallet.arrivals(transactionId).map(({ operation }) => operation),
  };
}

describe('a rollback whose player was imported too late', { timeout: 60_000 }, () => {
  it('reaches the wallet when it is sent again, once (I4, I5)', async () => {
    const bet = await betOfStranger();
    expect((await bet.rollback()).status).toBe(200);
    expect((await bet.rollback()).status).toBe(200);
    expect([bet.arrivals(), bet.balance()]).toEqual([['place'], '900']);
    // The metric of the alert WagergateCallbacksFail.
    const ofNobody = { operator: 'unknown', operation: 'rollback', outcome: 'not_sent' };
    expect(await gateway.metric('gateway_callbacks_total', ofNobody)).toBe(1);

    await importPlayers(gateway, [bet.player]);
    const copies = [bet.rollback(), bet.rollback(replica), bet.rollback(), bet.rollback(replica)];
    const answers = await Promise.all(copies);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect([bet.arrivals(), bet.balance()]).toEqual([['place', 'rollback'], '1000']);
    const [row] = await sql(gateway, 'SELECT operator_id FROM bets WHERE transaction_id = $1', [
      bet.transactionId,
    ]);
    expect(row).toEqual({ operator_id: 'alpha' });
  });

  it('is refused for another player than it came for first: the bet stays within the right one’s reach (I4)', async () => {
    const bet = await betOfStranger();
    expect((await bet.rollback()).status).toBe(200);
    const other = old.addPlayer();
    await importPlayers(gateway, [other, bet.player]);
    const mistyped = rollbackBody({ ...bet.slip, userId: other.userId }, 50);
    const refused = await gateway.service.call('PUT', '/payment/bet', mistyped);
    expect([refused.status, refused.json?.code]).toEqual([400, 5]);
    expect(bet.arrivals()).toEqual(['place']);
    expect((await bet.rollback()).status).toBe(200);
    expect([bet.arrivals(), bet.balance()]).toEqual([['place', 'rollback'], '1000']);
  });

  it('fences the bet all the time: neither a result nor a place gets past it (I6)', async () => {
    const bet = await betOfStranger();
    expect((await bet.rollback()).status).toBe(200);
    await importPlayers(gateway, [bet.player]);
    expect((await bet.settle()).json).toMatchObject({ code: 5 });
    const { token } = await openHere(gateway, bet.player);
    const place = placeBody({ ...bet.slip, token });
    expect((await gateway.service.call('POST', '/payment/bet', place)).json).toMatchObject({
      code: 8,
    });
    expect(bet.arrivals()).toEqual(['place']);
  });
});
