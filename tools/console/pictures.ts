import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Browser } from 'playwright-core';
import { chromiumPath, launchChromium } from './browser.ts';
import { buildIfStale } from './build.ts';
import { type PictureScene, playPictureScene } from './scene.ts';

const FOLDER = resolve(import.meta.dirname, '../../docs/images');
const PHONE_PX = 390;

interface Picture {
  readonly name: string;
  readonly path: string;
  readonly isPhone?: boolean;
  readonly isDark?: boolean;
  /** What must be on the page before the picture is taken. */
  readonly shows: string;
}

/** `npm run console:pictures`: takes the pictures of docs/console.md. */
async function main(): Promise<number> {
  const path = chromiumPath();
  if (path === undefined) {
    console.error('There is no Chromium on this machine; CHROMIUM may name one.');
    return 1;
  }
  await buildIfStale();
  await mkdir(FOLDER, { recursive: true });
  const scene = await playPictureScene();
  const browser = await launchChromium(path);
  try {
    for (const picture of picturesOf(scene)) {
      await take(browser, scene, picture);
      console.log(`docs/images/${picture.name}.png`);
    }
    return 0;
  } finally {
    await browser.close();
    await scene.close();
  }
}

function picturesOf({ bets }: PictureScene): readonly Picture[] {
  const closedDay = new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 10);
  const delivered = `/bets/${bets.delivered}`;
  return [
    { name: 'console-now', path: '', shows: 'Alpha Casino' },
    { name: 'console-now-dark', path: '', shows: 'Alpha Casino', isDark: true },
    { name: 'console-now-phone', path: '', shows: 'Alpha Casino', isPhone: true },
    { name: 'console-operator', path: '/operators/alpha', shows: 'wallet.timeoutMs' },
    { name: 'console-bet', path: delivered, shows: 'Messages' },
    { name: 'console-bet-phone', path: delivered, shows: 'Messages', isPhone: true, isDark: true },
    { name: 'console-bet-dead', path: `/bets/${bets.dead}`, shows: 'given up', isDark: true },
    { name: 'console-message', path: `${delivered}?message=2.1.answer`, shows: 'Bad Gateway' },
    { name: 'console-deliveries', path: '/deliveries?operator=alpha', shows: 'cannot do that' },
    { name: 'console-deliveries-phone', path: '/deliveries', shows: 'Deliveries', isPhone: true },
    { name: 'console-bets', path: '/bets', shows: '12.50' },
    { name: 'console-audit', path: '/audit', shows: 'their wallet is being mended' },
    { name: 'console-books', path: '/books', shows: 'alpha, ' },
    { name: 'console-books-phone', path: '/books', shows: 'alpha, ', isPhone: true, isDark: true },
    { name: 'console-statement', path: `/books/alpha/${closedDay}`, shows: 'Payouts reversed' },
    { name: 'console-settings', path: '/settings', shows: 'gateway.yaml' },
  ];
}

async function take(
  browser: Browser,
  { stage, bets }: PictureScene,
  { name, path, isPhone = false, isDark = false, shows }: Picture,
): Promise<void> {
  const context = await browser.newContext({
    viewport: isPhone ? { width: PHONE_PX, height: 844 } : { width: 1200, height: 780 },
    colorScheme: isDark ? 'dark' : 'light',
    locale: 'en-GB',
    reducedMotion: 'reduce',
    extraHTTPHeaders: { authorization: `Bearer ${stage.cast.adminToken}` },
  });
  try {
    const page = await context.newPage();
    await page.goto(`${stage.gateway.adminUrl}/console${path}`);
    await page.getByText(shows).first().waitFor();
    // The heading may appear while the page is still loading.
    await page.locator('.loading').first().waitFor({ state: 'detached' });
    await page.screenshot({
      path: join(FOLDER, `${name}.png`),
      fullPage: path.endsWith(bets.delivered) || path.endsWith(bets.dead),
    });
  } finally {
    await context.close();
  }
}

process.exit(await main());
