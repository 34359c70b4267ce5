import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN, ask } from '../admin/support/admin.ts';
import { insertDelivery } from '../support/deliveries.ts';
import { onServer } from '../support/server.ts';
import { hasChromium, startConsole, type TestConsole } from './support/rig.ts';

const AS_ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` };
const OVER = { status: 401, body: '{"code":1,"message":"The session is over: sign in again"}' };

async function endSession(page: Page): Promise<void> {
  await page.route('**/admin/me', (route) => route.fulfill(OVER));
  const seen = async () => {
    await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
    return page.getByRole('heading', { name: 'Sign in' }).count();
  };
  await expect.poll(seen).toBe(1);
}

describe.skipIf(!hasChromium)('a page that is not told how it ends', { timeout: 120_000 }, () => {
  let rig: TestConsole;
  beforeAll(async () => {
    rig = await startConsole({ operators: { alpha: {}, beta: {}, delta: {} } });
  }, 120_000);
  afterAll(() => rig.close());
  afterEach(() => {
    expect(rig.complaints).toEqual([]);
  });

  const operatorUrl = (id: string) => `${rig.adminUrl}/admin/operators/${id}`;
  const post = (url: string, body: unknown) =>
    ask(url, { method: 'POST', headers: AS_ADMIN, body: JSON.stringify(body) });

  it('never says that a change failed whose answer was lost (I12)', async () => {
    const page = await rig.open('/operators/alpha');
    await page.route('**/deliveries/hold', async (route) => {
      await route.fetch();
      await route.abort('connectionreset');
    });
    await page.getByRole('button', { name: 'Hold' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('the answer is lost');
    await dialog.getByRole('button', { name: 'Hold' }).click();
    await dialog.getByText('It may have been done: look before you do it again.').waitFor();
    // The next answer shows that it was: the window goes, and what it said stays.
    await page.getByText('held', { exact: true }).waitFor();
    await page
      .getByRole('alert')
      .getByText('Not known whether it was done: Hold the deliveries of alpha.')
      .waitFor();
    await page.close();
  });

  it('counts apart those of a selection whose answers were lost', async () => {
    await onServer(rig.gateway.databaseUrl, async (client) => {
      await insertDelivery(client, { state: 'dead', transactionId: 'lost-1' });
      await insertDelivery(client, { state: 'dead', transactionId: 'lost-2' });
    });
    const page = await rig.open('/deliveries?state=dead');
    await page.route('**/deliveries/*/resolve', async (route) => {
      await route.fetch();
      await route.abort('connectionreset');
    });
    await page.getByLabel('Select the rollback of lost-1').check();
    await page.getByRole('button', { name: 'Resolve 1 selected' }).click();
    const dialog = page.getByRole('dialog', { name: 'Resolve 1 delivery by hand' });
    await dialog.getByText('rollback of lost-1 at alpha').waitFor();
    expect(await dialog.innerText()).not.toContain('lost-2');
    await dialog.getByLabel('Reason').fill('looked up');
    await dialog.getByRole('button', { name: 'Resolve 1 selected' }).click();
    await page.getByText('1 of 1 looked at, 0 done, 1 not known').waitFor();
    await page.getByText('rollback of lost-1: The gateway does not answer').waitFor();
    await page.close();
  });

  it('keeps what was typed where a colleague was first', async () => {
    const id = await onServer(rig.gateway.databaseUrl, (client) =>
      insertDelivery(client, { state: 'dead', transactionId: 'two-of-us', operator: 'beta' }),
    );
    const page = await rig.open('/bets/two-of-us');
    await page.getByRole('button', { name: 'Resolve' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('their books say so');
    await post(`${rig.adminUrl}/admin/deliveries/${id}/resolve`, { by: 'other', reason: 'mine' });
    await dialog.waitFor({ state: 'detached' });
    const told = page.getByRole('alert').filter({ hasText: 'Not done' });
    await told.getByText('Resolve the rollback by hand').waitFor();
    expect(await told.innerText()).toContain('You had typed: their books say so');
    await told.getByRole('button', { name: 'Put away' }).click();
    await page.getByRole('link', { name: 'Now', exact: true }).click();
    expect(await page.getByText('Not done').count()).toBe(0);
    await page.close();
  });

  it('has what was half typed when the session ended, for the same person and once', async () => {
    const page = await rig.open('/operators/delta', { isStranger: true });
    const signIn = async () => {
      await page.getByLabel('Admin token').fill(ADMIN_TOKEN);
      await page.getByRole('button', { name: 'Sign in' }).click();
    };
    await signIn();
    await page.getByRole('button', { name: 'Hold' }).click();
    const reason = page.getByRole('dialog').getByLabel('Reason');
    await reason.fill('they restore a back');
    await endSession(page);
    expect(await page.locator('.me').count()).toBe(0);
    expect(await page.locator('main').innerText()).not.toContain('they restore');
    await page.unroute('**/admin/me');
    await signIn();
    await page.getByRole('button', { name: 'Hold' }).click();
    expect(await reason.inputValue()).toBe('they restore a back');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await reason.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Hold' }).click();
    expect(await reason.inputValue()).toBe('');
    await page.close();
  });

  it('keeps what was typed for the bet that it was typed for (I12)', async () => {
    await onServer(rig.gateway.databaseUrl, async (client) => {
      await insertDelivery(client, { state: 'dead', transactionId: 'typed-for' });
      await insertDelivery(client, { state: 'dead', transactionId: 'another' });
    });
    const page = await rig.open('/bets/typed-for');
    const reason = page.getByRole('dialog').getByLabel('Reason');
    await page.getByRole('button', { name: 'Resolve' }).click();
    await reason.fill('their books of typed-for say so');
    await endSession(page);
    await page.goto(`${rig.adminUrl}/console/bets/another`);
    await page.unroute('**/admin/me');
    await page.reload();
    await page.getByRole('button', { name: 'Resolve' }).click();
    expect(await reason.inputValue()).toBe('');
    await page.goto(`${rig.adminUrl}/console/bets/typed-for`);
    await page.getByRole('button', { name: 'Resolve' }).click();
    expect(await reason.inputValue()).toBe('their books of typed-for say so');
    await page.close();
  });

  it('does not say that deliveries go out while nobody knows, and names PostgreSQL', async () => {
    await post(`${operatorUrl('beta')}/deliveries/hold`, { reason: 'their backup' });
    const page = await rig.open('/operators/beta');
    await page.getByText('their backup').waitFor();
    await onServer(rig.gateway.databaseUrl, async (client) => {
      await client.query('BEGIN; LOCK TABLE operator_holds IN ACCESS EXCLUSIVE MODE');
      await page.getByText('whether somebody holds them is not known').waitFor();
      expect(await page.getByText('They go out as soon as they are due.').count()).toBe(0);
      await page.getByRole('button', { name: 'Resume' }).waitFor();
      await page.getByRole('link', { name: 'Now', exact: true }).click();
      await page.getByRole('alert').getByText('PostgreSQL answers, but not to that').waitFor();
      const oldest = page.getByRole('row', { name: 'delta' }).getByRole('cell').nth(3);
      expect(await oldest.innerText()).toBe('?');
      await client.query('ROLLBACK');
    });
    await page.getByText('PostgreSQL answers, but not to that').waitFor({ state: 'detached' });
    await page.close();
  });

  it('asks anew where a connection has died without a word', async () => {
    const page = await rig.open('/nowhere');
    await page.clock.install();
    await page.goto(`${rig.adminUrl}/console/reconciliations`);
    await page.getByText('No list was compared yet').waitFor();
    let asked = 0;
    await page.route('**/admin/reconciliations', async (route) => {
      asked += 1;
      if (asked > 1) await route.continue();
    });
    await page.clock.fastForward(3_000);
    await expect.poll(() => asked).toBe(1);
    await page.clock.fastForward(20_000);
    await page.locator('.fresh.old').waitFor();
    expect(asked).toBe(1);
    await page.clock.fastForward(10_000);
    await expect.poll(() => asked).toBeGreaterThan(1);
    await page.getByText('live', { exact: true }).waitFor();
    await page.close();
  });

  it('says that the gateway does not answer where an answer stops within, also in Firefox', async () => {
    const page = await rig.open('/nowhere');
    await page.clock.install();
    // Firefox ends the reading of such an answer as it ends one that nobody waits for.
    await page.addInitScript(`
      const ask = window.fetch;
      window.fetch = async (address, init) => {
        const response = await ask(address, init);
        if (!address.startsWith('/admin/reconciliations')) return response;
        response.text = () => new Promise((_, reject) => init.signal.addEventListener('abort', () =>
          reject(new DOMException('The operation was aborted.', 'AbortError'))));
        return response;
      };`);
    await page.goto(`${rig.adminUrl}/console/reconciliations`);
    await page.getByText('Loading reconciliations').waitFor({ state: 'attached' });
    await page.clock.fastForward(31_000);
    await page.getByRole('alert').getByText('The gateway does not answer').waitFor();
    await page.close();
  });

  it('says of an answer that is not the gateway’s whose it is not', async () => {
    const page = await rig.open('/audit');
    await page.getByText('live', { exact: true }).waitFor();
    await page.route('**/admin/audit', (route) => route.fulfill({ body: '<h1>Sign in here</h1>' }));
    await page.getByText('What answers is not the gateway').waitFor();
    await page.close();
  });
});
