import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Where distributions install it; `CHROMIUM` names another. The headless shell is the same engine without a window. */
const PLACES = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** The path of this machine's browser; undefined if there is none. */
export function chromiumPath(): string | undefined {
  return [process.env.CHROMIUM ?? '', ...PLACES].find((path) => path !== '' && existsSync(path));
}

interface LaunchOptions {
  /** Whether a page that was left is kept as it was, as people's browsers do: Playwright turns that off. */
  readonly keepsPages?: boolean;
}

/** @throws Error if it does not start */
export function launchChromium(
  executablePath: string,
  { keepsPages = false }: LaunchOptions = {},
): Promise<Browser> {
  return chromium.launch({
    executablePath,
    ignoreDefaultArgs: keepsPages ? ['--disable-back-forward-cache'] : [],
    // As root in containers the sandbox does not work; only our own pages are opened.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
}
