import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { BetSearch } from '../../src/store/bets/search.ts';
import { placedBet, unplacedBet } from '../support/bet.ts';
import { setUpDatabase } from '../support/foreign-settings.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { openPlainDatabase } from '../support/journal.ts';
import { PATIENT_MS } from '../support/timing.ts';

/** Times in German format, half an hour off, every transaction serializable, and no wait longer than 40 ms. */
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    worker: true,
    through: async (urls) => {
      await setUpDatabase(urls.databaseUrl);
      return urls;
    },
  });
});
afterAll(() => gateway.close());

it('a database set up for other programs changes no answer, however concurrent (I1, I6)', async () => {
  const bets = await Promise.all(Array.from({ length: 10 }, () => placedBet(gateway)));
  const answers = await Promise.all(
    bets.flatMap((bet) => [bet.place(), bet.update('2.5'), bet.settle('0.1')]),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  for (const step of ['unsettle', 'rollback'] as const) {
    const back = await Promise.all(bets.map((bet) => bet[step]()));
    expect(back.map(({ status }) => status)).toEqual(back.map(() => 200));
  }
  await vi.waitFor(() => expect(bets.map((bet) => bet.balance())).toEqual(bets.map(() => '1000')), {
    timeout: PATIENT_MS,
  });
});

it('what a wallet cannot take is promised and delivered there as well (I4)', async () => {
  const bet = await placedBet(gateway);
  const { transactionId } = bet;
  bet.wallet.misbehave('rollback', { kind: 'status', status: 503 }, { transactionId, calls: 1 });
  expect(await bet.rollback()).toMatchObject({ status: 200 });
  await vi.waitFor(
    async () => expect(await bet.deliveries()).toMatchObject([{ state: 'delivered' }]),
    { timeout: PATIENT_MS },
  );
  expect(bet.balance()).toBe('1000');
});

it('a bet is found there by the time it was placed at, and by its exact stake (I9)', async () => {
  const before = new Date();
  const bet = await unplacedBet(gateway, { amount: '0.29' });
  await bet.place();
  const database = openPlainDatabase(gateway.databaseUrl);
  const { items } = await new BetSearch(database).page({
    from: before,
    amount: '0.290',
  });
  await database.close();
  expect(items).toMatchObject([{ transactionId: bet.transactionId, amount: '0.29' }]);
});
