import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chromiumPath, launchChromium } from '../../tools/console/browser.ts';
import { ADMIN_TOKEN } from '../admin/support/admin.ts';
import { insertDelivery } from '../support/deliveries.ts';
import { onServer } from '../support/server.ts';
import { type Answering, type AuthProxy, startAuthProxy } from './support/auth-proxy.ts';
import { hasChromium, startConsole, type TestConsole } from './support/rig.ts';

const ANSWERS: readonly Answering[] = [
  'redirects elsewhere',
  'redirects here',
  'answers by its page',
  'refuses',
];

describe.skipIf(!hasChromium)('a proxy whose own sign-in is over', { timeout: 120_000 }, () => {
  let rig: TestConsole;
  let proxy: AuthProxy;
  let browser: Browser;
  beforeAll(async () => {
    rig = await startConsole({ operators: { alpha: {} } });
    proxy = await startAuthProxy(rig.adminUrl);
    browser = await launchChromium(chromiumPath() ?? '');
    await onServer(rig.gateway.databaseUrl, (client) =>
      insertDelivery(client, { state: 'dead', transactionId: 'dead-1' }),
    );
  }, 120_000);
  beforeEach(() => {
    proxy.answers = 'passes it on';
  });
  afterAll(async () => {
    await browser.close();
    await proxy.close();
    await rig.close();
  });

  async function open(path: string): Promise<Page> {
    const page = await browser.newPage({ acceptDownloads: true });
    page.setDefaultTimeout(20_000);
    await page.goto(`${proxy.url}/console${path}`);
    await typeToken(page);
    await page.locator('.me').getByText('token').waitFor();
    return page;
  }
  async function typeToken(page: Page) {
    await page.getByLabel('Admin token').fill(ADMIN_TOKEN);
    await page.getByRole('button', { name: 'Sign in' }).click();
  }
  const told = (page: Page) =>
    page.getByText('if a proxy in front of it wants you to sign in, do so in another tab').first();

  it.each(ANSWERS)('is named, and taken for nothing of the gateway’s: it %s', async (answers) => {
    const page = await open('/audit');
    let downloads = 0;
    page.on('download', () => (downloads += 1));
    proxy.answers = answers;
    await told(page).waitFor();
    expect(await page.getByText('does not answer').count()).toBe(0);
    await page.getByRole('button', { name: 'Export' }).click();
    await page.locator('.failed').getByText('What answers is not the gateway').waitFor();
    expect(downloads).toBe(0);
    proxy.answers = 'passes it on';
    await page.locator('.notice').getByText('is not current').waitFor({ state: 'detached' });
    await page.getByText('live', { exact: true }).waitFor();
    proxy.answers = answers;
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('Not known whether it was done: Sign out.').waitFor();
    await page.close();
  });

  it('does not call the token wrong that the gateway never saw', async () => {
    const page = await browser.newPage();
    await page.goto(`${proxy.url}/console`);
    await page.getByLabel('Admin token').waitFor();
    proxy.answers = 'refuses';
    await typeToken(page);
    await told(page).waitFor();
    expect(await page.getByText('The token is wrong').count()).toBe(0);
    await page.close();
  });

  it('does not say that a bet, or an operator’s file, is missing where it only finds nothing', async () => {
    const page = await open('/deliveries?state=dead');
    await page.getByRole('button', { name: 'Retry all 1 dead' }).click();
    await page.route('**/admin/deliveries/retry', async (route) => {
      proxy.answers = 'finds nothing';
      await route.continue();
    });
    await page.getByRole('dialog').getByRole('button', { name: 'Retry all 1 dead' }).click();
    await page.getByRole('dialog').getByText('What answers is not the gateway (404').waitFor();
    expect(await page.getByText('has no file in operators/').count()).toBe(0);
    proxy.answers = 'passes it on';
    await page.goto(`${proxy.url}/console/bets/dead-1`);
    await page.getByLabel('Admin token').waitFor();
    await page.close();
  });

  it('does not lose the page to one whose code it keeps back', async () => {
    const page = await open('');
    proxy.answers = 'redirects here';
    await page.getByRole('link', { name: 'Books' }).click();
    await told(page).waitFor();
    proxy.answers = 'passes it on';
    await page.getByRole('link', { name: 'Now', exact: true }).click();
    await page.getByRole('row', { name: 'alpha' }).waitFor();
    await page.close();
  });
});
