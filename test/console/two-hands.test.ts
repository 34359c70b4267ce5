import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN, ask } from '../admin/support/admin.ts';
import { insertDelivery } from '../support/deliveries.ts';
import { onServer } from '../support/server.ts';
import { hasChromium, startConsole, type TestConsole } from './support/rig.ts';

const AS_ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` };

/** The position of an element in the window. */
async function boxOf(one: Locator) {
  const box = await one.boundingBox();
  if (box === null) throw new Error('it is not in the window');
  return box;
}

/**
 * Begins a hold that will fail, and closes its window meanwhile. @returns `letGo`, whose `resolve` makes it fail
 */
async function closeFailingHold(page: Page) {
  const letGo = Promise.withResolvers<void>();
  const body = '{"code":100,"message":"PostgreSQL is not available"}';
  await page.route('**/deliveries/hold', async (route) => {
    await letGo.promise;
    await route.fulfill({ status: 503, body });
  });
  await page.getByRole('button', { name: 'Hold' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Reason').fill('nothing may go out');
  await dialog.getByRole('button', { name: 'Hold' }).click();
  await page.keyboard.press('Escape');
  return { dialog, letGo };
}

describe.skipIf(!hasChromium)(
  'somebody who is not alone, or in a hurry',
  { timeout: 120_000 },
  () => {
    let rig: TestConsole;
    beforeAll(async () => {
      rig = await startConsole({ operators: { alpha: {}, beta: {}, delta: {}, epsilon: {} } });
    }, 120_000);
    afterAll(() => rig.close());
    afterEach(() => {
      expect(rig.complaints).toEqual([]);
    });

    const operatorUrl = (id: string) => `${rig.adminUrl}/admin/operators/${id}`;
    const holdOf = async (id: string) =>
      (await ask(operatorUrl(id), { headers: AS_ADMIN })).json.hold;

    it('never resumes by the window in which a hold was begun (I12)', async () => {
      const page = await rig.open('/operators/alpha');
      await page.getByRole('button', { name: 'Hold' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Reason').fill('nothing may go out');
      await ask(`${operatorUrl('alpha')}/deliveries/hold`, {
        method: 'POST',
        headers: AS_ADMIN,
        body: JSON.stringify({ reason: 'a colleague was quicker' }),
      });
      await dialog.waitFor({ state: 'detached' });
      await page.locator('#main').getByText('a colleague was quicker').waitFor();
      expect(await page.evaluate('document.activeElement.id')).toBe('main');
      expect(await holdOf('alpha')).toMatchObject({ reason: 'a colleague was quicker' });
      await page.close();
    });

    it('confirms nothing by the second click of a double click (I12)', async () => {
      const page = await rig.open('/operators/epsilon', { width: 768 });
      const opens = page.getByRole('button', { name: 'Open', exact: true }).first();
      await opens.click();
      const dialog = page.getByRole('dialog');
      const submits = await boxOf(dialog.getByRole('button', { name: 'Open' }));
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      const { y } = await boxOf(opens);
      await page.evaluate(`scrollBy(0, ${y - submits.y})`);
      const { x, width, ...at } = await boxOf(opens);
      expect(at.y).toBeCloseTo(submits.y, -1);
      // A point within both buttons: the one that opens the window, and the one inside it.
      const shared = (Math.max(x, submits.x) + Math.min(x + width, submits.x + submits.width)) / 2;
      expect(shared).toBeGreaterThan(Math.max(x, submits.x));
      await page.mouse.dblclick(shared, submits.y + submits.height / 2);
      await dialog.getByText('Nothing is sent to the wallet').waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      const { json } = await ask(operatorUrl('epsilon'), { headers: AS_ADMIN });
      expect(json).toMatchObject({ override: { money: 'auto' } });
      await page.close();
    });

    it('keeps the window that the first click of a double click has opened', async () => {
      const page = await rig.open('/operators/delta');
      const probes = page.getByRole('button', { name: 'Probe' });
      await probes.scrollIntoViewIfNeeded();
      await probes.dblclick();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('Asks for the balance of a player that does not exist').waitFor();
      // A click of its own beside the window closes it, as ever.
      await page.mouse.click(5, 5);
      await dialog.waitFor({ state: 'detached' });
      await page.close();
    });

    it('is told that closing its window does not stop an action', async () => {
      const page = await rig.open('/operators/beta');
      const letGo = Promise.withResolvers<void>();
      await page.route('**/deliveries/hold', async (route) => {
        await letGo.promise;
        await route.continue();
      });
      await page.getByRole('button', { name: 'Hold' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Reason').fill('one moment');
      await dialog.getByRole('button', { name: 'Hold' }).click();
      await dialog.getByText('Closing this window does not stop it.').waitFor();
      expect(await dialog.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      letGo.resolve();
      await page.locator('#main').getByText('one moment').waitFor();
      await page.close();
    });

    it('is told about a failure even if the window was closed before', async () => {
      const page = await rig.open('/operators/delta');
      const { dialog, letGo } = await closeFailingHold(page);
      await dialog.waitFor({ state: 'detached' });
      letGo.resolve();
      await dialog.getByText('PostgreSQL is not available (503)').waitFor();
      expect(await dialog.getByLabel('Reason').inputValue()).toBe('nothing may go out');
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      expect(await holdOf('delta')).toBeNull();
      await page.close();
    });

    it('is told about a failure even if the page was left before', async () => {
      const page = await rig.open('/operators/delta');
      const { letGo } = await closeFailingHold(page);
      await page.getByRole('link', { name: 'Now', exact: true }).click();
      await page.getByRole('row', { name: 'epsilon' }).waitFor();
      letGo.resolve();
      const told = page.getByRole('alert').filter({ hasText: 'Hold the deliveries of delta' });
      await told.getByText('PostgreSQL is not available (503)').waitFor();
      await told.getByRole('button', { name: 'Put away' }).click();
      await told.waitFor({ state: 'detached' });
      await page.close();
    });

    it('is told which of a selection were not done, even if the page was left before', async () => {
      await onServer(rig.gateway.databaseUrl, async (client) => {
        await insertDelivery(client, { state: 'dead', transactionId: 'left-1' });
        await insertDelivery(client, { state: 'dead', transactionId: 'left-2' });
      });
      const page = await rig.open('/deliveries?state=dead');
      const letGo = Promise.withResolvers<void>();
      let asked = 0;
      await page.route('**/deliveries/*/retry', async (route) => {
        asked += 1;
        const isFirst = asked === 1;
        await letGo.promise;
        if (isFirst) await route.fulfill({ status: 409, body: '{"code":1,"message":"overtaken"}' });
        else await route.continue();
      });
      await page.getByLabel('Select the rollback of left-1').check();
      await page.getByLabel('Select the rollback of left-2').check();
      await page.getByRole('button', { name: 'Retry 2 selected' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Retry 2 selected' }).click();
      await dialog.getByText('Closing this window does not stop it.').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('link', { name: 'Now', exact: true }).click();
      await page.getByRole('row', { name: 'epsilon' }).waitFor();
      letGo.resolve();
      const told = page.getByRole('alert').filter({ hasText: 'Retry 2 deliveries' });
      await told
        .getByText(/1 of 2 were not done, such as rollback of left-1: overtaken \(409\)/)
        .waitFor();
      await page.close();
    });

    it('is told what to do if the session has ended meanwhile', async () => {
      const page = await rig.open('/operators/delta');
      const body = '{"code":1,"message":"The bearer token is missing or wrong"}';
      await page.route('**/deliveries/hold', (route) => route.fulfill({ status: 401, body }));
      await page.getByRole('button', { name: 'Hold' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Reason').fill('nothing may go out');
      await dialog.getByRole('button', { name: 'Hold' }).click();
      await dialog.getByText('You are no longer signed in: sign in again.').waitFor();
      await page.close();
    });

    it('reads on a page left open over night of which day something was', async () => {
      const { userId } = await rig.gateway.player();
      const page = await rig.open('/nowhere');
      await page.clock.install();
      await page.goto(`${rig.adminUrl}/console/players/${userId}`);
      const since = page.locator('.facts > div', { hasText: 'Known since' }).locator('time');
      expect(await since.innerText()).toMatch(/^\d\d:\d\d:\d\d$/);
      await page.clock.fastForward('25:00:00');
      await expect.poll(() => since.innerText()).toMatch(/^\d+ \w+, \d\d:\d\d:\d\d$/);
      await page.close();
    });

    it('sees of one operator nothing that was found at another, also after a jump back', async () => {
      const page = await rig.open('/operators/alpha');
      await page.getByText('Not asked yet.').waitFor();
      await page.getByRole('link', { name: 'Now', exact: true }).click();
      await page.getByRole('link', { name: 'epsilon' }).click();
      await page.getByText('Not asked yet.').waitFor();
      await page.getByRole('button', { name: 'Probe' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Probe' }).click();
      await page.getByText('refuses an unknown player in proper form').waitFor();
      await page.evaluate('history.go(-2)');
      await page.waitForURL('**/operators/alpha');
      await page.getByText('Not asked yet.').waitFor();
      await page.close();
    });
  },
);
