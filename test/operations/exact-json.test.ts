import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  placeBody,
  type RawFields,
  rollbackBody,
  settleBody,
  unsettleBody,
  updateBody,
} from '../../src/protocol/callback-bodies.ts';
import { placedBet, type TestBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { betState } from '../support/journal.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.close());

const post = (body: string | Buffer) => gateway.service.call('POST', '/payment/bet', body);
const put = (body: string | Buffer) => gateway.service.call('PUT', '/payment/bet', body);

/** A body in the operator's terms: only the first `userId` and `token`, which are the top-level ones. */
function translated(body: string, { player }: TestBet): string {
  return body
    .replace(`"userId":"${player.userId}"`, `"userId":"${player.user}"`)
    .replace(`"token":"${player.token}"`, `"token":"${player.operatorToken}"`);
}

const reached = (bet: TestBet) => String(bet.lastRequest().body);

const numbers = ['12.10', '0.30000000000000004', '1E+2', '1e-7', '9007199254740993', '-0.0', '0'];
const values = [
  ...numbers,
  '1e400',
  '-12345678901234567890.12345678901234567890',
  '"😀 é ß \u2028 /"',
  String.raw`"\ud83d\ude00 \u00e9 \/ \" \\ \b\f\n\r\t"`,
  String.raw`"\u0000 \ud800"`,
  '""',
  'null',
  '[]',
  '{}',
  '[1.0,[2.00,[{"a":3.000}]],true,"x"]',
  '{"z":1,"a":2,"10":3,"9":4}',
  '{"__proto__":{"x":1.0},"constructor":"y","toString":[]}',
];

describe('a place bet reaches the wallet as it came, except for userId and token (I9)', () => {
  it.each(values)('with an unknown member %s', async (value) => {
    const bet = await unplacedBet(gateway);
    const body = placeBody(bet.slip, { surprise: value, '': value, 'ключ "x"': value });
    expect((await post(body)).status).toBe(200);
    expect(reached(bet)).toBe(translated(body, bet));
  });

  it.each(numbers)('with the amount and the odds %s', async (number) => {
    const bet = await unplacedBet(gateway, { amount: number });
    const body = placeBody(bet.slip, { coefficient: number, boosterCoefficient: number });
    await post(body);
    expect(reached(bet)).toBe(translated(body, bet));
    expect(await betState(gateway.databaseUrl, bet.transactionId)).toMatchObject({
      amount: number,
    });
  });

  it('with members that only happen to be called userId or token', async () => {
    const bet = await unplacedBet(gateway);
    const { userId, token } = bet.player;
    const ours = `"userId":"${userId}","token":"${token}"`;
    const before = `{"custom":{${ours},"deep":[{${ours}}]},`;
    const body = placeBody(bet.slip, {
      info: `"${userId} ${token}"`,
      'nested.userId': `"${userId}"`,
    }).slice(1);
    expect((await post(before + body)).status).toBe(200);
    expect(reached(bet)).toBe(before + translated(body, bet));
  });

  it('with a transactionId that is returned unchanged', async () => {
    const bet = await unplacedBet(gateway);
    const transactionId = 'ставка/1 "😀" \\ \u2028'.padEnd(40, '.');
    const answer = await post(
      placeBody(bet.slip, { transactionId: JSON.stringify(transactionId) }),
    );
    expect(answer.json).toMatchObject({ transactionId });
  });
});

describe('every other operation of a bet reaches the wallet just as exactly (I9)', () => {
  const odd: RawFields = { surprise: '{"userId":"me","token":1.00}', bonusAmount: '1.50' };
  const operations: [string, (bet: TestBet) => string][] = [
    ['settle', ({ slip }) => settleBody(slip, { amount: '25.50', ...lost, token: undefined }, odd)],
    [
      'cashout',
      ({ slip }) => settleBody(slip, { amount: '9.10', ...cashout, token: slip.token }, odd),
    ],
    ['unsettle', ({ slip }) => unsettleBody(slip, '0.30000000000000004', odd)],
    ['update', ({ slip }) => updateBody(slip, '1.5000', odd)],
    ['rollback', ({ slip }) => rollbackBody(slip, 50, odd)],
  ];
  const lost = { resultType: 'lost' } as const;
  const cashout = { resultType: 'cashout' } as const;

  it.each(operations)('%s', async (_, bodyOf) => {
    const bet = await placedBet(gateway);
    const body = bodyOf(bet);
    expect((await put(body)).status).toBe(200);
    expect(reached(bet)).toBe(translated(body, bet));
  });
});
