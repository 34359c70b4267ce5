import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../admin/support/admin.ts';
import { type DeliveryRow, insertDelivery } from '../support/deliveries.ts';
import { onServer } from '../support/server.ts';
import { hasChromium, startConsole, type TestConsole } from './support/rig.ts';

describe.skipIf(!hasChromium)('many deliveries at once', { timeout: 120_000 }, () => {
  let rig: TestConsole;
  let page: Page;
  beforeAll(async () => {
    rig = await startConsole({ operators: { alpha: {}, beta: {}, delta: {} } });
  }, 120_000);
  afterAll(() => rig.close());
  afterEach(async () => {
    await page.close();
    expect(rig.complaints).toEqual([]);
    await onServer(rig.gateway.databaseUrl, (client) =>
      client.query(`UPDATE deliveries SET state = 'superseded', settled_at = now()`),
    );
  });

  const insert = (...rows: readonly DeliveryRow[]) =>
    onServer(rig.gateway.databaseUrl, async (client) => {
      for (const row of rows) await insertDelivery(client, row);
    });
  const states = () =>
    onServer(rig.gateway.databaseUrl, async (client) => {
      const { rows } = await client.query<{ transaction_id: string; state: string }>(
        `SELECT transaction_id, state FROM deliveries WHERE state <> 'superseded'`,
      );
      return Object.fromEntries(rows.map((row) => [row.transaction_id, row.state]));
    });
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const answer = (name: string) => page.getByRole('dialog').getByRole('button', { name }).click();
  const gone = () => page.getByRole('dialog').waitFor({ state: 'detached' });

  it('are counted as currently as they are listed', async () => {
    page = await rig.open('/deliveries?state=dead');
    await page.getByText('No deliveries').waitFor();
    await insert({ state: 'dead' });
    await button('Retry all 1 dead').waitFor();
    await insert({ state: 'dead' });
    await button('Retry all 2 dead').waitFor();
  });

  it('are retried although the page could not learn of the operators, or is older than one', async () => {
    await insert({ state: 'dead', transactionId: 'retried' });
    page = await rig.open('/nowhere');
    const body = '{"code":100,"message":"PostgreSQL is not available"}';
    await page.route('**/admin/operators', (route) => route.fulfill({ status: 503, body }));
    await page.goto(`${rig.adminUrl}/console/deliveries?state=dead`);
    await button('Retry all 1 dead').click();
    await answer('Retry all 1 dead');
    await page.getByRole('dialog').getByText('PostgreSQL is not available (503)').waitFor();
    await page.unroute('**/admin/operators');
    await answer('Retry all 1 dead');
    await gone();
    await page.getByText('1 of 1 looked at, 1 done').waitFor();
    expect(await states()).toEqual({ retried: 'pending' });
  });

  it('are retried also beside those of an operator whose file is gone, which is said', async () => {
    await insert(
      { state: 'dead', transactionId: 'of-nobody', operator: 'gone' },
      { state: 'dead', transactionId: 'of-beta', operator: 'beta' },
    );
    page = await rig.open('/deliveries?state=dead');
    await button('Retry all 2 dead').click();
    await answer('Retry all 2 dead');
    await gone();
    await page.getByText('1 of 2 looked at, 1 done').waitFor();
    await page
      .getByText('gone has no file in operators/: its deliveries are left as they are.')
      .waitFor();
    expect(await states()).toEqual({ 'of-nobody': 'dead', 'of-beta': 'pending' });
  });

  it('are not said to be done while somebody holds their operator: nothing goes out yet', async () => {
    await insert(
      { state: 'pending', transactionId: 'held-1' },
      { state: 'pending', transactionId: 'held-2' },
    );
    const hold = (what: string) =>
      fetch(`${rig.adminUrl}/admin/operators/alpha/deliveries/${what}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
      });
    expect((await hold('hold')).status).toBe(200);
    page = await rig.open('/deliveries?state=held');
    await button('Retry all 2 held').click();
    const about = await page.getByRole('dialog').innerText();
    const still = 'goes out only once its operator takes deliveries again';
    expect(about).toContain(still);
    await answer('Retry all 2 held');
    await gone();
    const waits = 'due once no longer held';
    await page.getByText(`2 of 2 looked at, 0 done, 2 ${waits}`).waitFor();
    await page.getByLabel('Select the rollback of held-1').check();
    await button('Retry 1 selected').click();
    expect(await page.getByRole('dialog').innerText()).toContain(still);
    await answer('Retry 1 selected');
    await gone();
    await page.getByText(`1 of 1 looked at, 0 done, 1 ${waits}`).waitFor();
    // What was dead is held as well once it is retried.
    await insert(
      { state: 'dead', transactionId: 'dead-of-a-held-one' },
      { state: 'dead', transactionId: 'dead-of-another', operator: 'beta' },
    );
    await page.goto(page.url().replace('state=held', 'state=dead'));
    await button('Retry all 2 dead').click();
    await answer('Retry all 2 dead');
    await gone();
    await page.getByText(`2 of 2 looked at, 1 done, 1 ${waits}`).waitFor();
    expect((await hold('resume')).status).toBe(200);
  });

  it('show their own results in a window, and not those of an earlier run', async () => {
    await insert(
      { state: 'dead', transactionId: 'first' },
      { state: 'dead', transactionId: 'second' },
    );
    page = await rig.open('/deliveries');
    await page.getByLabel('Select the rollback of first').check();
    await button('Retry 1 selected').click();
    await answer('Retry 1 selected');
    await gone();
    await page.getByText('1 of 1 looked at, 1 done').waitFor();
    await page.getByLabel('Select the rollback of second').check();
    await button('Resolve 1 selected').click();
    expect(await page.getByRole('dialog').innerText()).not.toContain('looked at');
  });

  it('say before a retry that nothing of it can be resolved for days', async () => {
    await insert({ state: 'dead', transactionId: 'refused-for-good' });
    page = await rig.open('/deliveries?state=dead');
    await page.getByLabel('Select the rollback of refused-for-good').check();
    for (const name of ['Retry 1 selected', 'Retry all 1 dead']) {
      await button(name).click();
      expect(await page.getByRole('dialog').innerText()).toContain('cannot be resolved before');
      await answer('Cancel');
      await gone();
    }
  });

  it('leave a selection when there is nothing to choose any more', async () => {
    await insert({ state: 'pending', transactionId: 'arrives' });
    page = await rig.open('/deliveries');
    await page.getByLabel('Select the rollback of arrives').check();
    await button('Retry 1 selected').waitFor();
    await onServer(rig.gateway.databaseUrl, (client) =>
      client.query(
        `UPDATE deliveries SET state = 'delivered', settled_at = now() WHERE transaction_id = 'arrives'`,
      ),
    );
    await page.getByRole('row', { name: /arrives.*delivered/ }).waitFor();
    expect(await button('Retry 1 selected').count()).toBe(0);
  });

  it('keep the focus where a key has chosen one, so that the next is as near as it looks', async () => {
    await insert(
      { state: 'dead', transactionId: 'by-key-1' },
      { state: 'dead', transactionId: 'by-key-2' },
    );
    page = await rig.open('/deliveries?state=dead');
    await page.getByLabel('Select the rollback of by-key-1').focus();
    const focused = 'document.activeElement.getAttribute("aria-label")';
    for (const count of [1, 0, 1]) {
      await page.keyboard.press('Space');
      await expect.poll(() => button('Retry 1 selected').count()).toBe(count);
      expect(await page.evaluate(focused)).toBe('Select the rollback of by-key-1');
    }
  });
});
