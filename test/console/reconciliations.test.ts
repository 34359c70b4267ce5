import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../admin/support/admin.ts';
import { placedBet } from '../support/bet.ts';
import { barriersOf, hasChromium, startConsole, type TestConsole } from './support/rig.ts';

const TODAY = new Date().toISOString().slice(0, 10);

describe.skipIf(!hasChromium)('reconciliations in the console', { timeout: 120_000 }, () => {
  let rig: TestConsole;
  beforeAll(async () => {
    rig = await startConsole();
  }, 120_000);
  afterAll(() => rig.close());
  afterEach(() => {
    expect(rig.complaints).toEqual([]);
  });

  /** Uploads a list of today's bets of alpha. @returns the page of its run */
  async function upload(list: string): Promise<string> {
    const answer = await fetch(
      `${rig.adminUrl}/admin/reconciliations?operator=alpha&from=${TODAY}&to=${TODAY}`,
      { method: 'POST', headers: { authorization: `Bearer ${ADMIN_TOKEN}` }, body: list },
    );
    expect(answer.status).toBe(202);
    const { id } = (await answer.json()) as { id: string };
    return `/reconciliations/${id}`;
  }

  it('compares a list, leads to the bet that differs, and keeps why it was resolved (I12)', async () => {
    const same = await placedBet(rig.gateway, { amount: '10' });
    const other = await placedBet(rig.gateway, { amount: '12.10' });
    const list = `bet_id,currency,stake,payout,state\n${[
      `${same.transactionId},USD,10.00,0,placed`,
      `${other.transactionId},USD,12.20,0,placed`,
    ].join('\n')}\n`;
    const page = await rig.open('/reconciliations');
    await page.getByText('No list was compared yet').waitFor();
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Compare a list' }).click();
    await dialog.getByLabel('Operator').selectOption('alpha');
    await dialog.getByLabel('First day').fill(TODAY);
    await dialog.getByLabel('Last day').fill(TODAY);
    await dialog.getByLabel('Names of its columns').fill('transactionId:bet_id');
    await dialog
      .getByLabel('The list')
      .setInputFiles({ name: 'theirs.csv', mimeType: 'text/csv', buffer: Buffer.from(list) });
    expect(await barriersOf(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Compare a list' }).click();
    await page.getByText('stake 12.2,').waitFor();
    expect(await page.getByText(same.transactionId).count()).toBe(0);
    expect(await barriersOf(page)).toEqual([]);

    await page.getByRole('button', { name: 'Resolve' }).click();
    await dialog.getByLabel('Reason').fill('their rounding');
    await dialog.getByRole('button', { name: 'Resolve' }).click();
    await page.getByText('their rounding').waitFor();
    await page.getByLabel('Kind').selectOption('unreadable');
    await page.getByText('No difference of this kind').waitFor();
    expect(await page.getByText('The lists agree').count()).toBe(0);
    await page.getByLabel('Kind').selectOption('amount_differs');
    await page.getByRole('link', { name: other.transactionId }).click();
    await page.getByRole('heading', { name: `Bet ${other.transactionId}` }).waitFor();
    await page.goBack();
    await page.goBack();
    await page.getByRole('row', { name: /alpha.*done/ }).waitFor();
    await page.close();
  });

  it('shows each line of a bet that a list has twice, also on a phone', async () => {
    const bet = await placedBet(rig.gateway, { amount: '10' });
    await bet.settle('20');
    const long = '123456789012345678901234567891.12345678901234567891';
    const line = (payout: string) => `${bet.transactionId},10,${payout}\n`;
    const list = `transactionId,stake,payout\n${line('20')}${line(long)}`;
    await upload(list);
    const page = await rig.open('/reconciliations', { width: 390, colours: 'dark' });
    await page
      .getByRole('row', { name: /alpha.*done/ })
      .first()
      .getByRole('link')
      .click();
    await page.getByText('There, 2 times').waitFor();
    await page.getByText(`payout ${long}`).waitFor();
    expect(await page.getByText('payout 20').count()).toBe(2);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    expect(await barriersOf(page)).toEqual([]);
    await page.close();
  });

  it('says which columns were compared, and which were not though the lists agree (I9)', async () => {
    const bet = await placedBet(rig.gateway, { amount: '10' });
    await bet.settle('20');
    // The player was paid 2000 there, in a column that is not called payout.
    const page = await rig.open(
      await upload(`transactionId,stake,won\n${bet.transactionId},10,2000\n`),
    );
    await page.getByText('Compared: transactionId, stake.').waitFor();
    await page.getByText('no such column: currency, payout, state').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.close();
    const columns = 'transactionId,currency,stake,payout,state';
    const whole = await rig.open(
      await upload(`${columns}\n${bet.transactionId},USD,10,20,settled\n`),
    );
    await whole.getByText('Compared: transactionId, currency, stake, payout, state.').waitFor();
    expect(await whole.getByText('no such column').count()).toBe(0);
    await whole.close();
  });
});
