import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertDelivery } from '../support/deliveries.ts';
import { onServer } from '../support/server.ts';
import { barriersOf, hasChromium, startConsole, type TestConsole } from './support/rig.ts';

const HOSTILE = '"><img src=x onerror=alert(1)>\u202egnp';
/** A bet whose id would be an address, markup or a path if it were read as one. */
const HOSTILE_ID = `javascript:alert(1)//<b>'"/?#%2f`;

describe.skipIf(!hasChromium)('every page of the console', { timeout: 120_000 }, () => {
  let rig: TestConsole;
  let bet = '';
  let userId = '';
  /**
   * Two browsers that go from page to page: starting one for each page would cost more than everything else here.
   */
  let inTheLight: Page;
  let onADarkPhone: Page;
  beforeAll(async () => {
    rig = await startConsole({
      operators: {
        alpha: { name: HOSTILE.replace('\u202e', '') },
        beta: { status: 'maintenance' },
      },
    });
    await onServer(rig.gateway.databaseUrl, async (client) => {
      const dead = { state: 'dead', transactionId: HOSTILE_ID, lastError: HOSTILE } as const;
      await insertDelivery(client, dead);
      await insertDelivery(client, { state: 'pending', operator: 'beta' });
    });
    const player = await rig.gateway.player();
    userId = player.userId;
    bet = (await rig.gateway.service.place({ ...player, amount: '12.50' })).transactionId;
    inTheLight = await rig.open('', { colours: 'light' });
    onADarkPhone = await rig.open('', { colours: 'dark', width: 390 });
  }, 120_000);
  afterAll(() => rig.close());

  const PAGES: readonly (readonly [name: string, path: () => string, shows: string])[] = [
    ['Now', () => '', 'beta'],
    ['Operator', () => '/operators/alpha', 'wallet.timeoutMs'],
    [
      'Operator, unknown',
      () => '/operators/nobody',
      'no file of this id in operators/ is in force (404)',
    ],
    ['Bet', () => `/bets/${bet}`, 'What happened'],
    ['Bet, a message', () => `/bets/${bet}?message=1`, 'As a command'],
    ['Bet, unknown', () => '/bets/none', 'No such bet. An ended one also goes'],
    ['Bets', () => '/bets', '12.50'],
    ['Bets, none', () => '/bets?transactionId=none', 'No bets'],
    ['Player', () => `/players/${userId}`, 'All bets of this player'],
    ['Audit', () => '/audit', 'player.viewed'],
    ['Deliveries', () => '/deliveries', 'Since, next'],
    ['Deliveries, none', () => '/deliveries?state=delivered', 'No deliveries'],
    ['Settings', () => '/settings', 'service.bonusApiUrl'],
    ['no page', () => '/nowhere', 'There is no such page'],
  ];

  it.each(PAGES)(
    '%s has no barrier, in the light, in the dark, on a phone',
    async (_, path, shows) => {
      for (const page of [inTheLight, onADarkPhone]) {
        await page.goto(`${rig.adminUrl}/console${path()}`);
        await page.getByText(shows).first().waitFor();
        expect(await barriersOf(page)).toEqual([]);
        const widthPx = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        expect(widthPx).toBeLessThanOrEqual(0);
      }
      expect(rig.complaints).toEqual([]);
    },
  );

  it('shows hostile text as text (I8)', async () => {
    const page = await rig.open('/deliveries?state=dead');
    await page.getByText('"><img src=x onerror=alert(1)>').waitFor();
    await page.getByText('U+202E').waitFor();
    expect(await page.locator('main img').count()).toBe(0);
    const link = page.getByRole('link', { name: HOSTILE_ID });
    expect(await link.getAttribute('href')).toMatch(/^\/console\/bets\/javascript/);
    await link.click();
    await page.getByRole('heading', { name: `Bet ${HOSTILE_ID}` }).waitFor();
    await page.getByText('The gateway has given up on the rollback').waitFor();
    await page.close();
    expect(rig.complaints).toEqual([]);
  });

  it('keeps a stake of many digits within a phone', async () => {
    const amount = `1.${'123456789'.repeat(6)}`;
    const player = await rig.gateway.player();
    const { transactionId } = await rig.gateway.service.place({ ...player, amount });
    await onADarkPhone.goto(`${rig.adminUrl}/console/bets/${transactionId}`);
    await onADarkPhone.getByText(`The wallet holds the stake of ${amount}`).waitFor();
    const over = await onADarkPhone.evaluate('document.documentElement.scrollWidth - innerWidth');
    expect(over).toBeLessThanOrEqual(0);
  });

  it('does not say that a bet does not exist while nobody knows', async () => {
    const page = await rig.open('');
    const body = '{"code":100,"message":"PostgreSQL is not available"}';
    await page.route('**/admin/bets**', (route) => route.fulfill({ status: 503, body }));
    await page.goto(`${rig.adminUrl}/console/bets/${bet}`);
    await page.getByText('PostgreSQL is not available (503)').waitFor();
    expect(await page.getByRole('alert').innerText()).toContain(
      'The bet of this id cannot be shown.',
    );
    await page.close();
  });

  it('is gone through by keys alone', async () => {
    const page = await rig.open('');
    await page.getByText('beta').first().waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the page');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Settings in force' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('d');
    await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type(bet);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: `Bet ${bet}` }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys and colours' }).waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.close();
  });

  it('asks a stranger who it is, and lets the token in for this tab alone', async () => {
    const page = await rig.open('/deliveries', { isStranger: true });
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByLabel('Admin token').fill('wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('The token is wrong.').waitFor();
    await page.getByLabel('Admin token').fill('the-admin-token-that-is-long-enough');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
    expect(
      await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])'),
    ).not.toContain('the-admin-token');
    await page.close();
  });

  it('says so when the gateway is gone, and goes on when it is back', async () => {
    const page = await rig.open('');
    await page.getByText('beta').first().waitFor();
    await page.route('**/admin/**', (route) => route.abort());
    await page.getByText('The gateway does not answer').waitFor();
    await page.getByText('beta').first().waitFor();
    await page.unroute('**/admin/**');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('The gateway does not answer').waitFor({ state: 'detached' });
    await page.close();
  });

  it('keeps its header when a page cannot be loaded, and goes on to others', async () => {
    const page = await rig.open('');
    await page.getByText('beta').first().waitFor();
    await page.route('**/assets/**', (route) => route.abort());
    await page.getByRole('link', { name: 'Books' }).click();
    await page.getByText('This page went wrong.').waitFor();
    await page.unroute('**/assets/**');
    await page.getByRole('link', { name: 'Audit' }).click();
    await page.getByRole('heading', { name: 'Audit' }).waitFor();
    await page.close();
    // The browser reports the missing file.
    rig.complaints.splice(0);
  });
});
