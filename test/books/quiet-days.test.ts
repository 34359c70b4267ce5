import { afterAll, beforeAll, expect, it } from 'vitest';
import { Statements } from '../../src/store/books/statements.ts';
import { placedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { age, closeNext, dayBefore } from './support/closed-days.ts';
import { bookAll } from './support/kept-books.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ operators: { alpha: {}, beta: {}, gamma: {} } });
});
afterAll(() => gateway.close());

async function placed(operatorId: string, amount: string, days: number) {
  const bet = await placedBet(gateway, { amount, operatorId });
  await age(bet, days);
  return bet;
}

it('a day without movements carries on what its own operator had open last, and nobody else’s (I8, I12)', async () => {
  const won = await placedBet(gateway, { amount: '10' });
  await won.settle('20');
  await age(won, 4);
  await placed('beta', '7', 3);
  await placed('gamma', '10', 4);
  await placed('gamma', '5', 3);
  await bookAll(gateway);
  const closed = [await closeNext(gateway), await closeNext(gateway), await closeNext(gateway)];
  expect(closed).toEqual([
    [`alpha ${dayBefore(4)}`, `beta ${dayBefore(3)}`, `gamma ${dayBefore(4)}`],
    [`alpha ${dayBefore(3)}`, `beta ${dayBefore(2)}`, `gamma ${dayBefore(3)}`],
    [`alpha ${dayBefore(2)}`, `beta ${dayBefore(1)}`, `gamma ${dayBefore(2)}`],
  ]);
  const statements = new Statements(gateway.parts.database);
  expect(await statements.find('alpha', dayBefore(2))).toMatchObject({ totals: [] });
  expect(await statements.find('gamma', dayBefore(2))).toMatchObject({
    movements: 0,
    totals: [{ openBets: 2, openStakes: '15' }],
  });
});
