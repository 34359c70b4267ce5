import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  balanceBody,
  placeBody,
  profileBody,
  rollbackBody,
  settleBody,
  unsettleBody,
  updateBody,
} from '../../src/protocol/callback-bodies.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

/**
 * Neither method nor path nor time is signed: whoever has a callback's bytes can send them anywhere at any time.
 */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ worker: true });
});
afterAll(() => gateway.close());

const BET = '/payment/bet';
const PATHS = [BET, '/user/profile', '/user/balance', '/operator/sessions', '/bonuses/bonus'];
const METHODS = ['POST', 'PUT'] as const;

/** Four bets whose every callback somebody captures. */
async function live() {
  const player = await gateway.player();
  const bets = [1, 2, 3, 4].map(() => gateway.service.slip({ ...player, amount: '100' }));
  const [won, unsettled, cashedOut, rolledBack] = bets;
  if (!won || !unsettled || !cashedOut || !rolledBack) throw new Error('four were made');
  const captured: string[] = [];
  const send = async (method: 'POST' | 'PUT', path: string, body: string) => {
    captured.push(body);
    expect((await gateway.service.call(method, path, body)).status).toBe(200);
  };
  const settle = (slip: typeof won, amount: string, resultType: 'won' | 'cashout' = 'won') => {
    const token = resultType === 'cashout' ? player.token : undefined;
    return send('PUT', BET, settleBody(slip, { amount, resultType, token }));
  };
  await send('POST', '/user/profile', profileBody(player.token));
  await send('POST', '/user/balance', balanceBody(player));
  for (const slip of bets) await send('POST', BET, placeBody(slip));
  await settle(won, '150');
  await send('PUT', BET, updateBody(won, '1.5'));
  await settle(won, '20');
  await send('PUT', BET, updateBody(won, '1.7'));
  await settle(unsettled, '70');
  await send('PUT', BET, unsettleBody(unsettled, '70'));
  await settle(cashedOut, '60', 'cashout');
  await settle(cashedOut, '0');
  await send('PUT', BET, rollbackBody(rolledBack, 50));
  const wallet = gateway.wallet('alpha');
  const held = () => [
    wallet.balance(player.user, player.currency),
    ...bets.map(({ transactionId }) => wallet.arrivals(transactionId).length),
  ];
  return { captured, held };
}

it('every callback of four bets, sent again by each method to each path and replica, moves nothing (I5)', async () => {
  const { captured, held } = await live();
  const before = held();
  for (const at of [gateway, await gateway.replica()]) {
    for (const body of captured) {
      for (const path of PATHS) {
        for (const method of METHODS) {
          const { status } = await at.service.call(method, path, body);
          expect([method, path, body, held()]).toEqual([method, path, body, before]);
          expect(status).toBeLessThan(500);
        }
      }
    }
  }
});
