import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { resolveResult } from '../../src/engine/resolve-result.ts';
import { UnknownResults } from '../../src/store/bets/unknown-results.ts';
import { deliveriesOf } from '../deliveries/support/deliveries.ts';
import { BY } from '../support/audit.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { acceptedBet, hourPasses, lose } from './support/bets.ts';
import { PATIENCE, PATIENT } from './support/patience.ts';

let gateway: TestGateway;
beforeAll(async () => {
  const hold = { ...PATIENT.wallet, dialect: { unknownRepeats: 'hold' } };
  gateway = await startTestGateway({ worker: true, operators: { alpha: { wallet: hold } } });
});
afterAll(() => gateway.close());

it('the doubt about an unsettle can be ended though a copy of its place came later (I4)', {
  timeout: 60_000,
}, async () => {
  const bet = await acceptedBet(gateway);
  expect((await bet.settle('20')).status).toBe(200);
  lose(bet, 'unsettle');
  expect((await bet.unsettle()).status).toBe(503);
  await expect.poll(() => deliveriesOf(bet), PATIENCE).toMatchObject([{ state: 'dead' }]);
  // Its bytes would be an unsettle if they were sent by PUT, but they were not.
  expect((await bet.place({ requestId: `"${randomUUID()}"` })).status).toBe(200);
  await hourPasses(bet);
  const word = {
    found: { kind: 'stake' },
    who: 'ann',
    why: 'asked their support',
    by: BY,
  } as const;
  const results = new UnknownResults(gateway.parts.database);
  const resolved = await resolveResult(results, bet.transactionId, word, () => 60_000);
  expect(resolved).toMatchObject({
    kind: 'resolved',
    item: { settlement: { state: 'unsettled' } },
  });
});
