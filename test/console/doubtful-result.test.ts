import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acceptedBet, lose } from '../money-safety/support/bets.ts';
import { hasChromium, startConsole, type TestConsole } from './support/rig.ts';

describe.skipIf(!hasChromium)('a bet whose result nobody knows', { timeout: 120_000 }, () => {
  let rig: TestConsole;
  beforeAll(async () => {
    rig = await startConsole({ operators: { alpha: {} } });
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
});
