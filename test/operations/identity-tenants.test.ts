import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { balanceBody, placeBody } from '../../src/protocol/callback-bodies.ts';
import { compareBooks } from '../../tools/simulator/books.ts';
import type { SimulatedOperator } from '../../tools/simulator/operator.ts';
import type { CallResult } from '../../tools/simulator/signed-client.ts';
import { asPlayer, placedBet, type TestPlayer } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

/**
 * Two operators that use the same player ids and tokens: whatever belongs to the other must look exactly as if it
 * did not exist (I8).
 */
const IDS = ['alpha', 'beta'] as const;
type Id = (typeof IDS)[number];

let gateway: TestGateway;
let operators: Readonly<Record<Id, SimulatedOperator>>;
let players: Readonly<Record<Id, TestPlayer>>;

beforeAll(async () => {
  gateway = await startTestGateway({ operators: { alpha: {}, beta: {} } });
  operators = { alpha: gateway.operator('alpha'), beta: gateway.operator('beta') };
  players = { alpha: await namesake('alpha'), beta: await namesake('beta') };
});
afterAll(async () => {
  await Promise.all(IDS.map((id) => operators[id].close()));
  await gateway.close();
});

async function namesake(id: Id): Promise<TestPlayer> {
  const [user, operatorToken, currency] = ['ann', 'the-same-own-token', 'USD'];
  const tokens = { [operatorToken]: currency };
  gateway.wallet(id).addPlayer({ user, balances: { [currency]: '1000' }, tokens });
  const opened = await operators[id].openSession({ operatorUser: user, currency, operatorToken });
  if (opened.session === undefined) throw new Error(opened.body);
  const { userId, token } = opened.session;
  return { userId, token, currency, user, operatorToken };
}

/** Everything that a caller can compare. */
const seen = ({ status, body, headers }: CallResult) => ({
  status,
  body,
  type: headers['content-type'],
});
const post = (path: string, body: string) => gateway.service.call('POST', path, body);

describe.each([
  ['alpha', 'beta'],
  ['beta', 'alpha'],
] as const)('%s and what belongs to %s', (mine, theirs) => {
  it('a foreign token with my player looks like one that does not exist', async () => {
    const before = [mine, theirs].map((id) => gateway.wallet(id).requests.length);
    const mixed = { ...players[mine], token: players[theirs].token };
    const missing = { ...players[mine], token: 'a-token-that-nobody-has' };
    const balances = [
      await post('/user/balance', balanceBody(mixed)),
      await post('/user/balance', balanceBody(missing)),
    ];
    const places = [mixed, missing].map((player) =>
      post('/payment/bet', placeBody(gateway.service.slip({ ...player, amount: '10' }))),
    );
    for (const pair of [balances, await Promise.all(places)]) {
      const [foreign, unknown] = pair.map(seen);
      expect(foreign).toEqual(unknown);
      expect(foreign?.status).toBe(400);
    }
    const after = [mine, theirs].map((id) => gateway.wallet(id).requests.length);
    expect(after).toEqual(before);
  });

  it('a bet under the other’s userId reaches neither wallet', async () => {
    const bet = await placedBet(gateway, { operatorId: theirs, player: players[theirs] });
    const other = asPlayer(players[mine]);
    const answers = [
      await bet.settle('10', 'won', undefined, other),
      await bet.settle('10', 'cashout', players[mine].token, other),
      await bet.unsettle(other),
      await bet.rollback(other),
      await bet.update('1.5', other),
      await bet.place(other),
      await bet.place({ ...other, token: JSON.stringify(players[mine].token) }),
    ];
    for (const answer of answers) {
      expect([answer.status, answer.json?.code]).toEqual([400, 5]);
      for (const id of IDS) expect(answer.body).not.toContain(id);
    }
    expect(bet.arrivals()).toEqual(['place']);
    expect(gateway.wallet(mine).arrivals(bet.transactionId)).toEqual([]);
  });

  it('a transactionId that the other’s player has is taken: a conflict, nothing sent (I10)', async () => {
    const bet = await placedBet(gateway, { operatorId: theirs, player: players[theirs] });
    const { transactionId } = bet;
    const slip = gateway.service.slip({ ...players[mine], transactionId, amount: '100' });
    const answer = await post('/payment/bet', placeBody(slip));
    expect([answer.status, answer.json?.code]).toEqual([400, 5]);
    expect(gateway.wallet(mine).arrivals(transactionId)).toEqual([]);
  });
});

it('two whole journeys at once end with matching books, and nothing of one in the other’s wallet', async () => {
  const { service } = gateway;
  const journey = async (id: Id) => {
    const player = (await service.profile(players[id].token)).player ?? players[id];
    const settled = await service.place({ ...player, amount: '12.10' });
    const undone = await service.place({ ...player, amount: '20' });
    const gone = await service.place({ ...player, amount: '30' });
    await Promise.all([
      service.settle(settled.transactionId, { amount: '40.5', resultType: 'won' }),
      service.settle(undone.transactionId, { amount: '50', resultType: 'won' }),
      service.update(gone.transactionId, '1.7'),
    ]);
    await service.settle(settled.transactionId, { amount: '30', resultType: 'won' });
    await service.unsettle(undone.transactionId);
    await service.rollback(gone.transactionId);
    return [settled, undone, gone].map(({ transactionId }) => transactionId);
  };
  const bets = await Promise.all(IDS.map(journey));
  const mine = new Set(bets.flat());
  const books = gateway.service.books();
  const wallets = IDS.map((id) => gateway.wallet(id).books());
  const differences = compareBooks(books, wallets).differences;
  expect(differences.filter((words) => [...mine].some((id) => words.includes(id)))).toEqual([]);
  for (const [index, id] of IDS.entries()) {
    const words = gateway
      .wallet(id)
      .requests.map(({ body }) => String(body))
      .join('\n');
    const foreign = bets[1 - index] ?? [];
    const { alpha, beta } = players;
    // Nothing in the service's terms either: wallets know only their own ids and tokens.
    const forbidden = [...foreign, alpha.userId, beta.userId, alpha.token, beta.token];
    expect(forbidden.filter((word) => words.includes(word))).toEqual([]);
  }
});

it('metrics name operators and words, never a user, token or transaction', async () => {
  const bet = await placedBet(gateway, { player: players.alpha });
  const text = await gateway.metrics.registry.metrics();
  const { userId, token, operatorToken } = players.alpha;
  for (const secret of [userId, token, operatorToken, bet.transactionId, '"ann"']) {
    expect(text).not.toContain(secret);
  }
});
