import { expect, it } from 'vitest';
import { placedBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway } from '../support/gateway.ts';
import { onServer } from '../support/server.ts';

it('what PostgreSQL answers but cannot write is counted as the gateway’s own failure', async (context) => {
  const gateway = await startTestGateway();
  context.onTestFinished(() => gateway.close());
  const bet = await placedBet(gateway, { amount: '1' });
  const later = await unplacedBet(gateway, { amount: '1', player: bet.player });
  const sql = (text: string) => onServer(gateway.databaseUrl, (client) => client.query(text));
  await sql('ALTER TABLE operations RENAME TO hidden');
  expect(await later.place()).toMatchObject({ status: 400, body: expect.stringContaining('100') });
  expect((await bet.settle('5')).status).toBe(503);
  await sql('ALTER TABLE hidden RENAME TO operations');
  // With the labels that the alert WagergateCallbacksFail uses.
  for (const operation of ['place', 'settle']) {
    const labels = { operator: 'unknown', operation, outcome: 'error' };
    expect(await gateway.metric('gateway_callbacks_total', labels)).toBe(1);
  }
});
