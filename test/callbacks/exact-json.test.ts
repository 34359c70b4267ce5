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

describe('what is no proper message is refused with code 5, naming the field (I9)', () => {
  const amounts: [string, string | undefined][] = [
    ['negative', '-0.01'],
    ['negative, though a double would call it 0', '-1e-400'],
    ['infinite as a double', '1e400'],
    ['text', '"12.10"'],
    ['null', 'null'],
    ['a list', '[12]'],
    ['missing', undefined],
  ];
  it.each(amounts)('a place whose amount is %s', async (_, amount) => {
    await expectRefused({ amount }, 'amount');
  });

  const shapes: [string, RawFields][] = [
    ['type', { type: '2' }],
    ['type', { type: '"1"' }],
    ['type', { type: undefined }],
    ['transactionId', { transactionId: undefined }],
    ['transactionId', { transactionId: '""' }],
    ['transactionId', { transactionId: '17' }],
    ['transactionId', { transactionId: `"${'x'.repeat(65)}"` }],
    ['transactionId', { transactionId: String.raw`"\u0000"` }],
    ['transactionId', { transactionId: String.raw`"\ud800"` }],
    ['userId', { userId: undefined }],
    ['userId', { userId: '17' }],
    ['token', { token: undefined }],
    ['token', { token: 'null' }],
    ['currency', { currency: '"EU"' }],
    ['currency', { currency: 'null' }],
    ['subPartnerId', { subPartnerId: '17' }],
    ['requestId', { requestId: '17' }],
    ['bonusAmount', { bonusAmount: '"1"' }],
  ];
  it.each(shapes)('a place with a wrong %s: %o', async (field, more) => {
    await expectRefused(more, field);
  });

  const broken: [string, (body: string) => string | Buffer, string][] = [
    ['a member twice', (body) => `${body.slice(0, -1)},"amount":100}`, 'amount'],
    ['a member twice, once escaped', (body) => `{"\\u0061mount":1,${body.slice(1)}`, 'amount'],
    [
      'a member twice deep inside',
      (body) => `{"a":{"b":[0,{"c":1,"c":1}]},${body.slice(1)}`,
      'a.b.1.c',
    ],
    [
      'more depth than 64',
      (body) => `{"a":${'['.repeat(64)}${']'.repeat(64)},${body.slice(1)}`,
      '',
    ],
    ['a byte order mark', (body) => `\ufeff${body}`, ''],
    ['invalid UTF-8', (body) => Buffer.concat([Buffer.from(body), Buffer.of(0xc3)]), ''],
    ['something behind its end', (body) => `${body}{}`, ''],
    ['a list around it', (body) => `[${body}]`, ''],
    ['a number that JSON does not know', (body) => `{"a":01,${body.slice(1)}`, ''],
    ['a comma too many', (body) => `${body.slice(0, -1)},}`, ''],
  ];
  it.each(broken)('a place with %s', async (_, breakIt, field) => {
    const bet = await unplacedBet(gateway);
    expectCode5(await post(breakIt(placeBody(bet.slip))), field);
    expect(bet.arrivals()).toEqual([]);
  });

  it.each(['0', '4', '"2"', 'null', '1.5'])('a PUT of type %s', async (type) => {
    const bet = await unplacedBet(gateway);
    expectCode5(await put(rollbackBody(bet.slip, 50, { type })), 'type');
  });

  it('and is recorded nowhere', async () => {
    const bet = await unplacedBet(gateway);
    await post(placeBody(bet.slip, { amount: '-1' }));
    expect(await betState(gateway.databaseUrl, bet.transactionId)).toBeUndefined();
    expect((await bet.place()).status).toBe(200);
  });

  async function expectRefused(more: RawFields, field: string): Promise<void> {
    const bet = await unplacedBet(gateway);
    expectCode5(await post(placeBody(bet.slip, more)), field);
    expect(bet.arrivals()).toEqual([]);
  }

  function expectCode5(answer: Awaited<ReturnType<typeof post>>, field: string): void {
    expect([answer.status, answer.json?.code]).toEqual([400, 5]);
    expect(answer.json?.message).toMatch(field === '' ? /./ : new RegExp(`^${field}: .`));
  }
});
