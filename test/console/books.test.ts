import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { age, closeNext, csvOf, dayBefore } from '../books/support/closed-days.ts';
import { bookAll } from '../books/support/kept-books.ts';
import { placedBet } from '../support/bet.ts';
import { barriersOf, hasChromium, startConsole, type TestConsole } from './support/rig.ts';

/** As many digits as the service may send; a phone is not that wide. */
const LONG = `7.${'123456789'.repeat(6)}`;

describe.skipIf(!hasChromium)('the books in the console', { timeout: 120_000 }, () => {
  let rig: TestConsole;
  /** Asked once: midnight may pass meanwhile. */
  let closedDay: string;
  beforeAll(async () => {
    rig = await startConsole({ operators: { alpha: {}, beta: {} } });
    const { gateway } = rig;
    const bets = [
      await placedBet(gateway, { amount: '10' }),
      await placedBet(gateway, { amount: '12.10' }),
      await placedBet(gateway, { amount: LONG, operatorId: 'beta' }),
    ];
    await bets[0]?.settle('20.50');
    closedDay = dayBefore(3);
    for (const bet of bets) await age(bet, 3);
    await placedBet(gateway, { amount: '4' });
    await bookAll(gateway);
    await closeNext(gateway);
  }, 120_000);
  afterAll(() => rig.close());
  afterEach(() => {
    expect(rig.complaints).toEqual([]);
  });

  it('shows the days newest first, and a chart for each operator and currency', async () => {
    const page = await rig.open('/books');
    const rows = page.getByRole('table', { name: 'Days, newest first' }).getByRole('row');
    await page.getByRole('row', { name: new RegExp(`${closedDay}.*alpha`) }).waitFor();
    expect(await rows.nth(1).innerText()).not.toContain(closedDay);
    await page.getByRole('figure').filter({ hasText: 'alpha, USD' }).waitFor();
    await page.getByRole('figure').filter({ hasText: 'beta, USD' }).waitFor();
    await page.getByLabel('Operator').selectOption('beta');
    await page.getByRole('figure').filter({ hasText: 'alpha, USD' }).waitFor({ state: 'detached' });
    expect(page.url()).toContain('operator=beta');
    await page.close();
  });

  it('shows no failure to a person who moves on to later days, and has filled in the first of them only', async () => {
    const page = await rig.open(`/books?from=${closedDay}&to=${closedDay}`);
    const rows = page.getByRole('table', { name: 'Days, newest first' }).getByRole('row');
    await page.getByRole('row', { name: new RegExp(`${closedDay}.*alpha`) }).waitFor();
    const today = dayBefore(0);
    await page.getByLabel('First day').fill(today);
    await page.getByLabel('Last day').focus();
    await page.getByText('The last day is before the first').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.getByLabel('Last day').fill(today);
    await page.getByLabel('First day').focus();
    await page.getByText('The last day is before the first').waitFor({ state: 'detached' });
    await rows.nth(1).waitFor();
    await page.close();
  });

  it('names the days below a chart even if the reader’s midnight is not that of UTC', async () => {
    const page = await rig.open('/nowhere');
    await page.addInitScript(
      `window.drawn = [];
      const { fillText } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.fillText = function (text, ...at) {
        window.drawn.push(text);
        return fillText.call(this, text, ...at);
      };`,
    );
    await page.goto(`${rig.adminUrl}/console/books`);
    const shown = new Date(closedDay).toLocaleDateString('en-GB', {
      day: 'numeric',
      month: 'short',
      timeZone: 'UTC',
    });
    await expect.poll(() => page.evaluate('window.drawn')).toContain(shown);
    await page.close();
  });

  it.each(['light', 'dark'] as const)('has no barrier, %s', async (colours) => {
    for (const path of ['/books', `/books/alpha/${closedDay}`]) {
      const page = await rig.open(path, { colours, width: colours === 'dark' ? 390 : 1280 });
      await page.getByText(closedDay).first().waitFor();
      await page.locator('figure, .facts').first().waitFor();
      expect(await barriersOf(page)).toEqual([]);
      const wide = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      expect(wide).toBeLessThanOrEqual(0);
      await page.close();
    }
  });

  it('shows a statement with its exact sums, and gives the CSV that its digest is of', async () => {
    const page = await rig.open('/books?operator=alpha');
    await page.getByRole('link', { name: closedDay }).click();
    await page.getByRole('heading', { name: `alpha, ${closedDay}` }).waitFor();
    await page.getByRole('row', { name: 'Stakes 22.1', exact: true }).waitFor();
    await page.getByRole('row', { name: 'Net 1.6', exact: true }).waitFor();
    // The reader is in Vienna, the books are in UTC.
    const day = page.locator('.facts > div').filter({ hasText: 'The day, in UTC' });
    const [startsAt = '', endsAt = ''] = await day.locator('time').allInnerTexts();
    expect([startsAt, endsAt]).toEqual([
      expect.stringMatching(/ 00:00:00$/),
      expect.stringMatching(/ 00:00:00$/),
    ]);
    expect(startsAt).not.toBe(endsAt);
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).click();
    const file = await downloading;
    expect(file.suggestedFilename()).toBe(`alpha-${closedDay}.csv`);
    const csv = await readFile(await file.path(), 'utf8');
    expect(csv).toBe(await csvOf(rig.gateway, 'alpha', closedDay));
    await page.getByText('As the API and the command line give it').click();
    await page.getByText('"payouts": "20.5"').waitFor();
    await page.close();
  });

  it('keeps an amount in one line even if a phone has no room for all currencies', async () => {
    const page = await rig.open('/nowhere', { width: 390 });
    await page.route('**/admin/books/statements/**', async (route) => {
      const answered = await (await route.fetch()).json();
      const totals = ['EUR', 'GBP', 'KZT', 'USD', 'USDT'].map((currency) => ({
        ...answered.totals[0],
        currency,
        stakes: '1234567.12345678',
      }));
      await route.fulfill({ json: { ...answered, totals } });
    });
    await page.goto(`${rig.adminUrl}/console/books/alpha/${closedDay}`);
    const amount = page.getByRole('cell', { name: '1234567.12345678' }).last();
    await amount.scrollIntoViewIfNeeded();
    const box = await amount.boundingBox();
    expect(box?.height).toBeLessThan(45);
    expect(await barriersOf(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    await page.close();
  });

  it('says of a day that is open that it has no statement', async () => {
    const page = await rig.open(`/books/alpha/${dayBefore(0)}`);
    await page
      .getByText('No such statement: the day is open, or the operator had no bets by then (404)')
      .waitFor();
    await page.getByRole('button', { name: 'Download CSV' }).click();
    await page.getByRole('alert').filter({ hasText: 'the day is open' }).first().waitFor();
    await page.close();
  });
});
