import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { PersonRole } from '../../../src/domain/caller.ts';
import { chromiumPath, launchChromium } from '../../../tools/console/browser.ts';
import { ADMIN_TOKEN, ask } from '../../admin/support/admin.ts';
import { startPeople, type TestPeople } from '../../admin/support/people.ts';

/** An issuer, a gateway that trusts it, and browsers of people who are not signed in yet. */
export interface PeopleConsole {
  readonly people: TestPeople;
  /** A separate browser without anybody else's cookies. */
  person(): Promise<{ readonly context: BrowserContext; readonly page: Page }>;
  /** A single-use sign-in link for this role. */
  link(role: PersonRole): Promise<string>;
  close(): Promise<void>;
}

export async function startPeopleConsole(): Promise<PeopleConsole> {
  const path = chromiumPath();
  if (path === undefined) throw new Error('no Chromium');
  const people = await startPeople();
  const browser: Browser = await launchChromium(path);
  return {
    people,
    person: async () => {
      const context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce' });
      context.setDefaultTimeout(40_000);
      return { context, page: await context.newPage() };
    },
    link: async (role) => {
      const { json } = await ask(`${people.baseUrl}/admin/console/links`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
        body: JSON.stringify({ role }),
      });
      return json.url;
    },
    close: async () => {
      await browser.close();
      await people.close();
    },
  };
}
