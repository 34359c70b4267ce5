import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { onServer } from '../support/server.ts';
import { barriersOf, hasChromium, startConsole, type TestConsole } from './support/rig.ts';

describe.skipIf(!hasChromium)(
  'what is typed, chosen or kept in a browser',
  { timeout: 120_000 },
  () => {
    let rig: TestConsole;
    beforeAll(async () => {
      rig = await startConsole({ operators: { alpha: {}, beta: {} } });
    }, 120_000);
    afterAll(async () => {
      await rig.close();
    });
    afterEach(() => {
      expect(rig.complaints).toEqual([]);
    });

    it('is called a wrong token where no header can hold it, not a gateway that does not answer', async () => {
      const page = await rig.open('', { isStranger: true });
      await page.getByLabel('Admin token').fill('the-admin-token-that-is-long…');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('it holds a character that no token has').waitFor();
      expect(await page.getByText('does not answer').count()).toBe(0);
      await page.close();
    });

    it('shows a time of an address that is no whole day, and keeps it when the field is left', async () => {
      const page = await rig.open('/bets?from=2026-01-20T10:00:00Z');
      const field = page.getByLabel('From (UTC)');
      await expect.poll(() => field.inputValue()).toBe('2026-01-20T10:00:00Z');
      await field.focus();
      await page.getByLabel('Stake').focus();
      await page.getByLabel('Stake').fill('5');
      await page.keyboard.press('Enter');
      await page.waitForURL('**amount=5**');
      expect(new URL(page.url()).searchParams.get('from')).toBe('2026-01-20T10:00:00Z');
      // The focus stays in the same field.
      expect(await page.evaluate('document.activeElement.labels?.[0].textContent')).toBe('Stake');
      await page.close();
    });

    it('is searched by at Enter, also a day', async () => {
      const page = await rig.open('/bets');
      const field = page.getByLabel('From (UTC)');
      await field.fill('2026-01-20');
      await field.press('Enter');
      await page.waitForURL('**from=2026-01-20');
      expect(await page.evaluate('document.activeElement.labels?.[0].textContent')).toBe(
        'From (UTC)',
      );
      await page.close();
    });

    it('never looks like a filter while it is none: half a day', async () => {
      const page = await rig.open('/bets?from=2026-01-20');
      const field = page.getByLabel('From (UTC)');
      await expect.poll(() => field.inputValue()).toBe('2026-01-20');
      await field.press('Backspace');
      await page.getByLabel('Stake').focus();
      await page.getByText('No such day: not searched by').waitFor();
      // What was searched by before goes on.
      expect(new URL(page.url()).searchParams.get('from')).toBe('2026-01-20');
      expect(await barriersOf(page)).toEqual([]);
      await field.fill('2026-02-28');
      await page.getByLabel('Stake').focus();
      await page.waitForURL('**from=2026-02-28');
      await page.getByText('No such day').waitFor({ state: 'detached' });
      await page.close();
    });

    it.each([
      ['', 'Only operators whose id or name contains'],
      ['/settings', 'Only operators whose id contains'],
    ])('stands where it was typed, at %j', async (path, label) => {
      const page = await rig.open(path);
      const field = page.getByLabel(label);
      await field.pressSequentially('alpha');
      await field.press('Home');
      await field.pressSequentially('of-', { delay: 30 });
      expect(await field.inputValue()).toBe('of-alpha');
      await page.waitForURL('**find=of-alpha');
      await page.reload();
      await expect.poll(() => page.getByLabel(label).inputValue()).toBe('of-alpha');
      await page.close();
    });

    it('is not needed: the console works in a browser that stores nothing', async () => {
      const page = await rig.open('/nowhere');
      await page.addInitScript(
        `Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } })`,
      );
      await page.goto(`${rig.adminUrl}/console`);
      await page.getByText('beta').first().waitFor();
      await page.keyboard.press('?');
      await page.getByLabel('Use these keys').uncheck();
      await page.getByLabel('Colours', { exact: true }).selectOption('Dark');
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.keyboard.press('?');
      expect(await page.getByRole('dialog').count()).toBe(0);
      await page.close();
    });

    it('shows a currency as a wallet has named it, and lets it turn nothing around (I8)', async () => {
      const { userId, ...player } = await rig.gateway.player();
      const slip = { ...player, userId, amount: '5' };
      const { transactionId } = await rig.gateway.service.place(slip);
      // The wallet names the currency of a prefixed session: 3 to 5 characters, and this may be one of them.
      await onServer(rig.gateway.databaseUrl, async (client) => {
        await client.query(`UPDATE sessions SET currency = 'U\u202eSD'`);
        await client.query(`UPDATE bets SET currency = 'U\u202eSD'`);
      });
      for (const path of [`/bets/${transactionId}`, '/bets', `/players/${userId}`]) {
        const page = await rig.open(path);
        await page.locator('main').getByText('U+202E').first().waitFor();
        expect(await page.locator('main').innerText()).not.toContain('\u202e');
        await page.close();
      }
    });
  },
);
