import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium, startConsole, type TestConsole } from './support/rig.ts';

/** As long as a player's id may be, and without a place to break it. */
const LONG_USER = 'u'.repeat(64);

describe.skipIf(!hasChromium)('what must stay readable', { timeout: 120_000 }, () => {
  let rig: TestConsole;
  let betId = '';
  let userId = '';
  beforeAll(async () => {
    rig = await startConsole();
    const player = await rig.gateway.player({ user: LONG_USER });
    userId = player.userId;
    betId = (await rig.gateway.service.place({ ...player, amount: '5' })).transactionId;
  }, 120_000);
  afterAll(() => rig.close());
  afterEach(() => {
    expect(rig.complaints).toEqual([]);
  });

  it.each([1280, 390])(
    'is a whole dialog about a player whose id is long, %d pixels wide',
    async (width) => {
      const page = await rig.open(`/players/${userId}`, { width });
      for (const label of ['Export', 'Forget']) {
        await page.getByRole('button', { name: label, exact: true }).click();
        const dialog = page.getByRole('dialog');
        await dialog.getByText(LONG_USER).first().waitFor();
        const hiddenPx = await dialog.evaluate((one) => one.scrollWidth - one.clientWidth);
        expect(hiddenPx).toBe(0);
        await page.keyboard.press('Escape');
        await dialog.waitFor({ state: 'detached' });
      }
      await page.close();
    },
  );

  it('is, in forced colours, which page this is, and from whom to whom a message went', async () => {
    const page = await rig.open(`/bets/${betId}`);
    await page.emulateMedia({ forcedColors: 'active' });
    await page.locator('.arrow').first().waitFor();
    const underlined = await page.evaluate(`(() => {
      const paper = getComputedStyle(document.body).backgroundColor;
      return [...document.querySelectorAll('.pages a')]
        .filter((one) => getComputedStyle(one).borderBottomColor !== paper)
        .map((one) => one.textContent);
    })()`);
    expect(underlined).toEqual(['Bets']);
    const line = await page.evaluate(`(() => {
      const one = document.querySelector('.rightward .arrow-line');
      const head = getComputedStyle(one, '::after');
      return [getComputedStyle(one).borderTopWidth, head.borderTopColor, head.borderLeftColor === head.color];
    })()`);
    // An arrowhead with visible upper and lower edges would be a square, which points nowhere.
    expect(line).toEqual(['2px', 'rgba(0, 0, 0, 0)', true]);
    await page.emulateMedia({ forcedColors: 'none' });
    await page.close();
  });

  it('is, in forced colours, which line of a chart is which, as its legend says', async () => {
    const page = await rig.open('/operators/alpha');
    await page.emulateMedia({ forcedColors: 'active' });
    await page.locator('.plot canvas').first().waitFor();
    const [legend, lines] = await page.evaluate<[string[], string[]]>(`(() => {
      const figure = document.querySelector('.plot').closest('figure');
      const place = figure.querySelector('.plot');
      const keys = [...figure.querySelectorAll('.legend i')];
      // A line's colour is asked for as the chart does it.
      const lines = keys.map((key) => {
        place.style.color = key.style.background;
        return getComputedStyle(place).color;
      });
      place.style.color = '';
      return [keys.map((key) => getComputedStyle(key).backgroundColor), lines];
    })()`);
    expect(new Set(lines).size).toBeGreaterThan(2);
    expect(lines).toEqual(legend);
    await page.emulateMedia({ forcedColors: 'none' });
    await page.close();
  });

  it.each(['fa-IR', 'th-TH', 'ar-EG', 'de-DE'])(
    'is, in the language %s, when something happened: in the calendar and digits of the books and filters',
    async (locale) => {
      const page = await rig.open('/nowhere', { locale });
      const later = new Date(Date.now() + 800 * 86_400_000);
      await page.clock.setFixedTime(later);
      await page.goto(`${rig.adminUrl}/console/bets/${betId}`);
      const time = page.locator('.story time').first();
      const at = String(await time.getAttribute('datetime'));
      // Of another year, so the year is shown.
      expect(await time.innerText()).toContain(at.slice(0, 4));
      expect(await time.innerText()).toContain(at.slice(14, 19));
      await page.close();
    },
  );
});
