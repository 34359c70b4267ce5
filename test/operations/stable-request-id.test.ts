import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { untilDeliveries } from '../deliveries/support/deliveries.ts';
import { placedBet, type TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import {
  good,
  type OwnAnswer,
  type OwnCall,
  startOwnWallet,
} from '../wallets/support/own-wallet.ts';

/**
 * A wallet that keys on `requestId` (service protocol, How real wallets deviate): each new one is a new operation
 * that moves money; each known one gets the old answer and moves none.
 */
class KeyedWallet {
  readonly #answered = new Set<string>();
  /** The only bet in its books: deliveries of an earlier test's bets may still come. */
  transactionId: unknown;
  /** Whole units paid to the player. */
  paid = 0;
  /** What happens to the answers of the next calls, after they are booked. */
  readonly fates: ('drop' | 'refuse' | 'lose')[] = [];

  answer(call: OwnCall): OwnAnswer {
    if (call.operation === 'place') this.transactionId = call.json.transactionId;
    if (call.json.transactionId !== this.transactionId) return good(call);
    const fate = call.operation === 'place' ? undefined : this.fates.shift();
    if (fate === 'refuse') return { status: 400, body: { code: 20, message: 'blocked' } };
    // `lose`: the connection breaks before the wallet has noticed the call.
    if (fate === 'lose') return 'drop';
    const key = String(call.json.requestId ?? call.headers['x-request-id']);
    if (!this.#answered.has(key)) {
      this.#answered.add(key);
      if (call.operation === 'settle') this.paid += Number(call.json.amount);
      if (call.operation === 'unsettle') this.paid -= Number(call.json.amount);
    }
    return fate === 'drop' ? 'drop' : good(call);
  }
}

let books: KeyedWallet;
let wallet: Awaited<ReturnType<typeof startOwnWallet>>;
let gateway: TestGateway;

beforeAll(async () => {
  wallet = await startOwnWallet((call) => books.answer(call));
  const settings = (dialect: object, more: object = {}) => ({
    ...more,
    wallet: { baseUrl: wallet.baseUrl, dialect, breaker: { minRequests: 100_000 } },
  });
  gateway = await startTestGateway({
    worker: true,
    gateway: {
      delivery: { minBackoffMs: 50, maxBackoffMs: 100, confirmUnknownAfterMs: 200 },
    },
    operators: {
      alpha: settings({ stableRequestId: true }),
      strict: settings({}),
      queued: settings({ stableRequestId: true }, { settle: { onFailure: 'queue' } }),
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await wallet.close();
});
beforeEach(() => {
  books = new KeyedWallet();
});
afterEach(() => expect(books.fates).toEqual([]));

/** What reached the wallet after the place: each operation with the number of its requestId. */
function seen(bet: TestBet): string[] {
  const ids: string[] = [];
  return wallet.callsOf(bet.transactionId).flatMap((call) => {
    if (call.operation === 'place') return [];
    const id = String(call.headers['x-request-id']);
    // Body and header always agree, if the body has one.
    if (call.json.requestId !== undefined) expect(call.json.requestId).toBe(id);
    if (!ids.includes(id)) ids.push(id);
    return [`${call.operation} ${ids.indexOf(id) + 1}`];
  });
}

describe('a result that the service repeats under a new requestId', () => {
  it('carries the first one and is paid once (I5)', async () => {
    const bet = await placedBet(gateway);
    books.fates.push('drop', 'drop');
    expect((await bet.settle('30')).status).toBe(503);
    expect((await bet.settle('30.0')).status).toBe(503);
    expect((await bet.settle('30')).status).toBe(200);
    expect(seen(bet)).toEqual(['settle 1', 'settle 1', 'settle 1']);
    expect(books.paid).toBe(30);
  });
});

describe('a result that the service repeats after the wallet has refused another', () => {
  it('is still a repeat: the refused one has changed nothing there (I5)', async () => {
    const bet = await placedBet(gateway);
    books.fates.push('drop', 'refuse');
    expect((await bet.settle('30')).status).toBe(503);
    expect((await bet.settle('40')).json?.code).toBe(20);
    expect((await bet.settle('30')).status).toBe(200);
    expect(seen(bet)).toEqual(['settle 1', 'settle 2', 'settle 1']);
    expect(books.paid).toBe(30);
  });
});

describe('a result that is no repeat', () => {
  it('equal to the one before the last is one too: the wallet has to apply it again', async () => {
    const bet = await placedBet(gateway);
    books.fates.push('drop', 'drop');
    await bet.settle('30');
    await bet.settle('40');
    await bet.settle('30');
    expect(seen(bet).slice(0, 3)).toEqual(['settle 1', 'settle 2', 'settle 3']);
  });

  it('equal to one that was unsettled is one too, so it is paid again', async () => {
    const bet = await placedBet(gateway);
    await bet.settle('10');
    await bet.unsettle();
    await bet.settle('10');
    expect(seen(bet)).toEqual(['settle 1', 'unsettle 2', 'settle 3']);
    expect(books.paid).toBe(10);
  });
});

describe('a delivery', () => {
  it('of a taken-over settle carries the requestId of its first attempt', async () => {
    const bet = await placedBet(gateway, { operatorId: 'queued' });
    books.fates.push('drop', 'drop');
    expect((await bet.settle('30')).status).toBe(200);
    await untilDeliveries(bet, [{ operation: 'settle', state: 'delivered' }]);
    expect(seen(bet)).toEqual(['settle 1', 'settle 1', 'settle 1']);
    expect(books.paid).toBe(30);
  });

  it.each(['with', 'without'])(
    'of a rollback or update carries one requestId throughout, %s one of the service’s',
    async (which) => {
      const more = which === 'with' ? {} : { requestId: undefined };
      const bet = await placedBet(gateway);
      books.fates.push('drop', 'drop');
      expect((await bet.update('1.7', more)).status).toBe(200);
      await untilDeliveries(bet, [{ operation: 'update', state: 'delivered' }]);
      books.fates.push('drop', 'drop');
      expect((await bet.rollback(more)).status).toBe(200);
      // The service's own repeat is answered from the journal, whatever its requestId.
      expect((await bet.rollback(more)).status).toBe(200);
      await untilDeliveries(bet, [
        { state: 'delivered' },
        { operation: 'rollback', state: 'delivered' },
      ]);
      expect(seen(bet)).toEqual([
        ...['update 1', 'update 1', 'update 1'],
        ...['rollback 2', 'rollback 2', 'rollback 2'],
      ]);
    },
  );
});
