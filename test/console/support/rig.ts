import axe from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { chromiumPath, launchChromium } from '../../../tools/console/browser.ts';
import { ADMIN_TOKEN } from '../../admin/support/admin.ts';
import {
  startTestGateway,
  type TestGateway,
  type TestGatewayOptions,
} from '../../support/gateway.ts';

/** Without Chromium these tests are skipped, which is said once. */
export const hasChromium = chromiumPath() !== undefined;
if (!hasChromium) {
  process.stderr.write('No Chromium here (CHROMIUM names one): the console is not played.\n');
}

export interface OpenOptions {
  /** Default 1280; a phone has 390. */
  readonly width?: number;
  readonly colours?: 'light' | 'dark';
  /** The browser's language; default `en-GB`. */
  readonly locale?: string;
  /** Without the token, as a stranger. */
  readonly isStranger?: boolean;
}

/** A gateway, its internal listener, and a browser to look at it. */
export interface TestConsole {
  readonly gateway: TestGateway;
  readonly adminUrl: string;
  /** A separate tab. Tabs of one kind share a browser, and so its compiled code. */
  open(path: string, options?: OpenOptions): Promise<Page>;
  /** What went wrong in any page: exceptions, blocked scripts and styles, requests to other hosts. */
  readonly complaints: string[];
  close(): Promise<void>;
}

export async function startConsole(options: TestGatewayOptions = {}): Promise<TestConsole> {
  const path = chromiumPath();
  if (path === undefined) throw new Error('no Chromium');
  const gateway = await startTestGateway({ ...options, env: { ADMIN_TOKEN, ...options.env } });
  const { app, readiness } = gateway.parts.adminServer();
  readiness.started();
  const adminUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  const browser = await launchChromium(path);
  const complaints: string[] = [];
  const contexts = new Map<string, BrowserContext>();
  return {
    gateway,
    adminUrl,
    complaints,
    open: async (page, how = {}) => {
      const kind = JSON.stringify(how);
      const context = contexts.get(kind) ?? (await openContext(browser, how));
      contexts.set(kind, context);
      return await openPage({ context, adminUrl, complaints }, page);
    },
    close: async () => {
      await browser.close();
      await app.close();
      await gateway.close();
    },
  };
}

async function openContext(
  browser: Browser,
  { width = 1280, colours = 'light', locale = 'en-GB', isStranger = false }: OpenOptions,
): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport: { width, height: width < 600 ? 844 : 800 },
    colorScheme: colours,
    timezoneId: 'Europe/Vienna',
    locale,
    reducedMotion: 'reduce',
    extraHTTPHeaders: isStranger ? {} : { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  context.setDefaultTimeout(20_000);
  return context;
}

async function openPage(
  where: { context: BrowserContext; adminUrl: string; complaints: string[] },
  path: string,
): Promise<Page> {
  const { context, adminUrl, complaints } = where;
  const page = await context.newPage();
  page.on('pageerror', (error) => complaints.push(`exception: ${error.message}`));
  page.on('console', (message) => {
    // The page itself must show what the admin API refuses; Chromium logs each refusal as an error.
    const isRefusal = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isRefusal) complaints.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(adminUrl)) complaints.push(`asked elsewhere: ${request.url()}`);
  });
  await page.goto(`${adminUrl}/console${path}`);
  return page;
}

/** What axe finds against WCAG 2.2 AA and good practice, a line each. Nothing is exempt. */
export async function barriersOf(page: Page): Promise<readonly string[]> {
  // Elements that the header covers while scrolled do not count as small targets.
  await page.evaluate('scrollTo(0, 0)');
  await page.evaluate(axe.source);
  const results: axe.AxeResults = await page.evaluate(
    "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })",
  );
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  );
}
