import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, launchChromium } from '../../tools/console/browser.ts';
import { ADMIN_TOKEN } from '../admin/support/admin.ts';
import { hasChromium, startConsole, type TestConsole } from './support/rig.ts';

describe.skipIf(!hasChromium)('signing out of the console', { timeout: 120_000 }, () => {
  let rig: TestConsole;
  beforeAll(async () => {
    rig = await startConsole({ operators: { alpha: {} } });
  }, 120_000);
  afterAll(() => rig.close());

  async function typeToken(page: Page) {
    await page.getByLabel('Admin token').fill(ADMIN_TOKEN);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('.me').getByText('token').waitFor();
  }

  it('leaves nothing to go back to: no page, and no token that was typed', async () => {
    const browser = await launchChromium(chromiumPath() ?? '', { keepsPages: true });
    const page = await browser.newPage();
    await page.goto(`${rig.adminUrl}/console`);
    await typeToken(page);
    await page.getByRole('link', { name: 'Audit' }).click();
    await page.getByText('Nothing on record').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    // Not by Playwright, which waits for a page that is loaded anew.
    await page.evaluate('void history.back()');
    await page.waitForURL('**/console/audit', { waitUntil: 'commit' });
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await page.locator('.me').count()).toBe(0);
    expect(await page.getByText('Nothing on record').count()).toBe(0);
    await browser.close();
  });

  it('says so where the session goes on, and has forgotten a token that was typed', async () => {
    const page = await rig.open('', { isStranger: true });
    await typeToken(page);
    const body = '{"code":100,"message":"PostgreSQL is not available"}';
    await page.route('**/console/sign-out', (route) => route.fulfill({ status: 503, body }));
    await page.getByRole('button', { name: 'Sign out' }).click();
    const told = page.getByRole('alert').filter({ hasText: 'Sign out' });
    await told.getByText('PostgreSQL is not available (503)').waitFor();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await page.locator('.me').count()).toBe(0);
    await page.close();
  });
});
