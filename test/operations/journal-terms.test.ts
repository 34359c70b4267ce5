import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RawFields } from '../../src/protocol/callback-bodies.ts';
import { placedBet, type TestBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    gateway: { delivery: { minBackoffMs: 60_000 } },
    operators: { alpha: { wallet: { breaker: { minRequests: 100_000 } } } },
  });
});
afterEach(() => gateway.wallet('alpha').behave());
afterAll(() => gateway.close());

const conflicts = () => gateway.metric('gateway_conflicts_total');
const repaired = (operation: string) =>
  gateway.metric('gateway_repaired_callbacks_total', { operation });
/** A member of the last request that reached the wallet, as raw text. */
const reached = (bet: TestBet, member: string) =>
  new RegExp(`"${member}":("[^"]*"|[^,}]*)`).exec(String(bet.lastRequest().body))?.[1];
const reachedTerms = (bet: TestBet) => [reached(bet, 'amount'), reached(bet, 'currency')];

describe("a rollback carries the journal's stake and currency, whatever it says", () => {
  it.each([
    { amount: '500', currency: '"EUR"' },
    { amount: '500' },
    { amount: '0' },
    { currency: '"EUR"' },
  ])('a difference is a conflict, and it goes through: %o', async (said: RawFields) => {
    const bet = await placedBet(gateway, { amount: '5.00' });
    const before = await conflicts();
    expect((await bet.rollback(said)).status).toBe(200);
    expect(reachedTerms(bet)).toEqual(['5.00', '"USD"']);
    expect(bet.balance()).toBe('1000');
    expect(await conflicts()).toBe(before + 1);
  });

  it('the same amount in another spelling is none, and the exact text of the place is sent', async () => {
    const bet = await placedBet(gateway, { amount: '5.00' });
    const before = await conflicts();
    expect((await bet.rollback({ amount: '5' })).status).toBe(200);
    expect(reached(bet, 'amount')).toBe('5.00');
    expect(await conflicts()).toBe(before);
  });

  it.each([
    { amount: undefined, currency: undefined },
    { amount: 'null', currency: 'null' },
    { amount: '"5"', currency: '7' },
    { amount: '-1', currency: '"TOO-LONG"' },
    { amount: '1e999', currency: '{}' },
  ])('also what is missing or no such thing: %o', async (said: RawFields) => {
    const bet = await placedBet(gateway, { amount: '5.00' });
    const before = await repaired('rollback');
    expect((await bet.rollback(said)).status).toBe(200);
    expect(reachedTerms(bet)).toEqual(['5.00', '"USD"']);
    expect(await repaired('rollback')).toBe(before + 1);
  });

  it('says nothing of a bet that is not in the journal: what it names is passed on', async () => {
    const bet = await unplacedBet(gateway);
    const before = await conflicts();
    expect((await bet.rollback({ amount: '7.10', currency: '"EUR"' })).status).toBe(200);
    expect(reachedTerms(bet)).toEqual(['7.10', '"EUR"']);
    expect(await conflicts()).toBe(before);
    // And fences it: a place that comes later is refused because of the rollback, not of its currency.
    expect((await bet.place()).json?.code).toBe(8);
  });
});

describe('an update carries the currency of its bet', () => {
  it.each(['"EUR"', 'null', '5', undefined])('whatever it says: %s', async (currency) => {
    const bet = await placedBet(gateway, { amount: '5.00' });
    const before = await conflicts();
    expect((await bet.update('1.5', { currency })).status).toBe(200);
    expect(reachedTerms(bet)).toEqual(['5.00', '"USD"']);
    expect(await conflicts()).toBe(before + (currency === '"EUR"' ? 1 : 0));
  });
});

const ODD: readonly (readonly [string, string])[] = [
  ['coefficient', '"x"'],
  ['coefficient', '-1'],
  ['coefficient', '{"a":1}'],
  ['boosterCoefficient', 'true'],
  ['bonusAmount', '[]'],
  ['metadata', '"x"'],
  ['metadata', '{}'],
  ['cid', '5'],
  ['requestId', '{}'],
  ['requestId', '12'],
  ['transactionTime', '[1]'],
  ['token', '17'],
  ['token', '[]'],
  ['token', '"\\u0000"'],
  ['token', '"\\ud800"'],
  ['errorCode', '"x"'],
  ['gameType', '3'],
  ['ticketType', 'false'],
  ['bonusId', '"x"'],
  ['bonusTemplateId', '1.5'],
  ['info', '[]'],
  ['ip', '4'],
];

describe.each(['rollback', 'update'] as const)(
  'a %s is not refused for a member it does not need',
  (operation) => {
    const send = (bet: TestBet, more: RawFields) =>
      operation === 'rollback' ? bet.rollback(more) : bet.update('1.5', more);

    it.each(ODD)('%s: %s is left out, counted, and the rest is sent', async (name, raw) => {
      const bet = await placedBet(gateway);
      const before = await repaired(operation);
      const answer = await send(bet, { [name]: raw });
      expect(answer.status).toBe(200);
      expect(bet.arrivals()).toEqual(['place', operation]);
      const sent = JSON.parse(String(bet.lastRequest().body));
      // Wallets need both: the token is that of the place, the requestId a new one.
      const supplied = new Map<string, unknown>([
        ['token', bet.player.operatorToken],
        ['requestId', expect.any(String)],
      ]);
      expect(sent[name]).toEqual(supplied.get(name));
      expect(sent).toMatchObject({ transactionId: bet.transactionId, userId: bet.player.user });
      expect(await repaired(operation)).toBe(before + 1);
    });

    it.each([undefined, 'null', '""', '5', '"\\u0000"', `"${'x'.repeat(65)}"`])(
      'its userId %s is not needed where the bet is in the journal, and is where it is not',
      async (userId) => {
        const bet = await placedBet(gateway);
        expect((await send(bet, { userId })).status).toBe(200);
        expect(JSON.parse(String(bet.lastRequest().body)).userId).toBe(bet.player.user);
        const unknown = await unplacedBet(gateway);
        const answer = await send(unknown, { userId });
        expect([answer.status, answer.json?.code]).toEqual([400, 5]);
        expect(answer.json?.message).toContain('userId');
        expect(unknown.arrivals()).toEqual([]);
      },
    );

    it.each(['5', 'null', '""', `"${'x'.repeat(65)}"`, '"\\ud800"', undefined])(
      'but needs its transactionId: %s',
      async (transactionId) => {
        const bet = await placedBet(gateway);
        const answer = await send(bet, { transactionId });
        expect([answer.status, answer.json?.code]).toEqual([400, 5]);
        expect(answer.json?.message).toContain('transactionId');
      },
    );

    it('is a conflict if it names another player, as before', async () => {
      const bet = await placedBet(gateway);
      const other = await gateway.player();
      const answer = await send(bet, { userId: `"${other.userId}"` });
      expect([answer.status, answer.json?.code]).toEqual([400, 5]);
      expect(bet.arrivals()).toEqual(['place']);
    });

    it('leaves out an odd coefficient of an outcome, and passes on the others', async () => {
      const bet = await placedBet(gateway);
      const metadata = '[{"eventId":"1","coefficient":"x"},5,{"eventId":"2","coefficient":1.50}]';
      expect((await send(bet, { metadata })).status).toBe(200);
      const sent = String(bet.lastRequest().body);
      expect(sent).toContain('"metadata":[{"eventId":"1"},{"eventId":"2","coefficient":1.50}]');
    });

    it('is passed on as it came where nothing is odd', async () => {
      const bet = await placedBet(gateway, { amount: '5.00' });
      const [before, beforeConflicts] = [await repaired(operation), await conflicts()];
      expect((await send(bet, { surprise: '[1.0,{"a":2.00}]', amount: '5.00' })).status).toBe(200);
      expect(String(bet.lastRequest().body)).toContain('"surprise":[1.0,{"a":2.00}]');
      expect([await repaired(operation), await conflicts()]).toEqual([before, beforeConflicts]);
    });
  },
);
