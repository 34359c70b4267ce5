import { afterAll, beforeAll, describe, it } from 'vitest';
import { placedBet, type TestBet, unplacedBet } from '../../support/bet.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { type OwnWallet, startOwnWallet } from '../support/own-wallet.ts';
import { DEVIATING_WALLETS, secretOf } from './support/deviating-wallets.ts';
import type { Scene } from './support/real-wallet.ts';
import { REPEATING_WALLETS } from './support/repeating-wallets.ts';

/**
 * The wallets of service protocol, How real wallets deviate: each behaviour listed there is played by a wallet that
 * has it, and the gateway either copes with it or needs a dialect.
 */

const NAMED = [...DEVIATING_WALLETS, ...REPEATING_WALLETS].map((wallet, index) => ({
  ...wallet,
  operatorId: `wallet-${index}`,
}));

let gateway: TestGateway;
let server: OwnWallet;
let players = 0;

beforeAll(async () => {
  server = await startOwnWallet((call) => {
    const operatorId = call.path.split('/')[1];
    const wallet = NAMED.find((one) => one.operatorId === operatorId);
    if (wallet === undefined) throw new Error(`no wallet at ${call.path}`);
    const before = server.callsOf(String(call.json.transactionId)).slice(0, -1);
    return wallet.answer(call, before);
  });
  const operators = NAMED.map(({ operatorId, dialect = {} }) => {
    const wallet = {
      baseUrl: `${server.baseUrl}/${operatorId}`,
      secrets: [secretOf(operatorId)],
      dialect,
      breaker: { minRequests: 100_000 },
    };
    return [operatorId, { wallet }] as const;
  });
  gateway = await startTestGateway({
    worker: true,
    gateway: { delivery: { minBackoffMs: 50, maxBackoffMs: 100, horizonHours: 1 / 3_600 } },
    operators: Object.fromEntries(operators),
  });
}, 60_000);
afterAll(async () => {
  await gateway.close();
  await server.close();
});

/** A player as the strictest of these wallets require: short tokens, numeric ids. */
async function playerOf(operatorId: string): Promise<TestBet['player']> {
  players += 1;
  const user = String(1_000 + players);
  const operatorToken = `own-${user}`;
  const operator = gateway.operator(operatorId);
  const request = { operatorUser: user, currency: 'USD', operatorToken };
  const { session, body } = await operator.openSession(request);
  await operator.close();
  if (session === undefined) throw new Error(`no session: ${body}`);
  const { userId, token } = session;
  return { userId, token, currency: 'USD', user, operatorToken };
}

describe.each(NAMED)('a wallet that $does', ({ operatorId, dialect, shows }) => {
  const scene: Scene = {
    operatorId,
    calls: (bet) => server.callsOf(bet.transactionId),
    unplaced: async () =>
      await unplacedBet(gateway, { operatorId, player: await playerOf(operatorId) }),
    placed: async () =>
      await placedBet(gateway, { operatorId, player: await playerOf(operatorId) }),
  };
  const items = Object.keys(dialect ?? {}).join(', ');

  it(items === '' ? 'is lived with' : `works with ${items}`, () => shows(scene));
});
