import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nextSteps } from '../../src/console/pages/bet/next-steps.ts';
import { ADMIN_TOKEN, ask } from '../admin/support/admin.ts';
import { acceptedBet, lose } from '../money-safety/support/bets.ts';
import { onServer } from '../support/server.ts';
import { hasChromium, startConsole, type TestConsole } from './support/rig.ts';
import { bet, operation } from './support/shown-bet.ts';

const asksFor = (amount: string) => ({
  operation: 'settle',
  request: `{"amount":${amount},"resultType":"won"}`,
});

it.each([
  ['that was answered 200', 200, [], ['retryOrResolve']],
  ['that was answered 503', 503, [], ['retryOrResolve', 'resolveResult']],
  // After a retry, while it waited for its next attempt.
  ['whose copy was answered 200', 503, [operation(asksFor('20'))], ['retryOrResolve']],
  ['before another', 503, [operation(asksFor('30'))], ['retryOrResolve', 'resolveResult']],
])('of a dead result %s, a person is offered what is not refused', (_, status, later, kinds) => {
  const delivery = { id: '7', state: 'dead' };
  const dead = operation({ ...asksFor('20'), delivery, answer: { status, body: '{}' } });
  const operations = [operation(), dead, ...later];
  const doubtful = bet({ state: 'settlement_unknown', operations });
  expect(nextSteps(doubtful).map(({ kind }) => kind)).toEqual(kinds);
});

describe.skipIf(!hasChromium)('a bet whose result nobody knows', { timeout: 120_000 }, () => {
  let rig: TestConsole;
  beforeAll(async () => {
    rig = await startConsole({
      operators: { alpha: {}, beta: { settle: { onFailure: 'queue' } } },
    });
  }, 120_000);
  afterAll(() => rig.close());

  it('says whether the result was taken back, or several were sent', async () => {
    const bet = await acceptedBet(rig.gateway, { operatorId: 'alpha' });
    await bet.settle('20');
    lose(bet, 'unsettle');
    expect((await bet.unsettle()).status).toBe(503);
    const page = await rig.open(`/bets/${bet.transactionId}`);
    await page.getByText('The result was taken back and nobody knows').waitFor();
    await page.getByText('taken back; whether the wallet has done so is unknown').waitFor();
    lose(bet, 'settle');
    expect((await bet.settle('30')).status).toBe(503);
    await page.reload();
    await page.getByText('several were sent; which of them the wallet holds is unknown').waitFor();
    await page.close();
  });

  it('offers nothing that is refused while a result is owed, and does not say that the service repeats it', async () => {
    const bet = await acceptedBet(rig.gateway, { operatorId: 'beta' });
    lose(bet, 'settle');
    expect((await bet.settle('20')).status).toBe(200);
    await onServer(rig.gateway.databaseUrl, (client) =>
      client.query(
        `UPDATE deliveries SET state = 'dead', settled_at = now() WHERE transaction_id = $1`,
        [bet.transactionId],
      ),
    );
    const word = { holds: 'stake', by: 'Ann', reason: 'their books' };
    const { status, json } = await ask(`${rig.adminUrl}/admin/bets/${bet.transactionId}/resolve`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
      body: JSON.stringify(word),
    });
    expect([status, json.message]).toEqual([409, expect.stringContaining('answered 200')]);
    const page = await rig.open(`/bets/${bet.transactionId}`);
    await page.getByText('if they hold this result, resolve it').waitFor();
    expect(await page.getByRole('button', { name: 'Say what it holds' }).count()).toBe(0);
    expect(await page.getByText('The service repeats a result').count()).toBe(0);
    await page.close();
  });
});
