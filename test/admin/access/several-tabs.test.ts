import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser, startPeople, type TestPeople } from '../support/people.ts';

const PENDING = '__Host-wagergate-sign-in';

let people: TestPeople;
beforeAll(async () => {
  people = await startPeople();
  people.issuer.person = { email: 'ann@x.example', roles: ['viewer'] };
});
afterAll(() => people.close());

/** The cookies of sign-ins that are not over, as the browser sends them. */
const pendingOf = ({ cookies }: Browser) =>
  [...cookies].filter(([name]) => name.startsWith(PENDING)).map((pair) => pair.join('='));

/** A tab that is at the issuer, whose answer it has not followed yet. */
async function tab(browser: Browser, to: string): Promise<string> {
  const begun = await browser.go(`${people.baseUrl}/console/sign-in?to=${to}`);
  return (await browser.go(begun.location)).location;
}

describe('a browser with several tabs at the issuer', () => {
  it.each([
    ['in the order in which they left', (tabs: readonly string[]) => tabs],
    ['in the opposite order', (tabs: readonly string[]) => tabs.toReversed()],
  ])('signs in by each of them, %s', async (_, ordered) => {
    const browser = new Browser();
    const pages = ['/console/bets', '/console/deliveries', '/console/books'];
    const returns: string[] = [];
    for (const page of pages) returns.push(await tab(browser, page));
    const ended: string[] = [];
    for (const back of ordered(returns)) ended.push((await browser.go(back)).location);
    expect(ended).toEqual(ordered(pages.map((page) => `${people.baseUrl}${page}`)));
    expect(pendingOf(browser)).toEqual([]);
    for (const back of returns) expect((await browser.go(back)).status).toBe(401);
  });

  it('signs in by each of them, although a browser opened them all at once', async () => {
    const browser = new Browser();
    const pages = ['/console/bets', '/console/deliveries', '/console/books'];
    const returns = await Promise.all(pages.map((page) => tab(browser, page)));
    const ended = await Promise.all(returns.map(async (back) => (await browser.go(back)).location));
    expect(ended).toEqual(pages.map((page) => `${people.baseUrl}${page}`));
    expect(pendingOf(browser)).toEqual([]);
  });

  it('keeps its sign-in through a return that somebody else made up', async () => {
    const browser = new Browser();
    const back = await tab(browser, '/console/bets');
    const forged = await browser.go(`${people.baseUrl}/console/callback?code=x&state=y`);
    expect(forged.status).toBe(401);
    expect((await browser.go(back)).status).toBe(303);
  });

  it('keeps the latest ones, in cookies that browsers keep and every request has room for', async () => {
    const browser = new Browser();
    const returns: string[] = [];
    for (const length of [10, 900, 900, 900]) {
      returns.push(await tab(browser, `/console/bets?note=${'x'.repeat(length)}`));
      expect(pendingOf(browser).join('; ').length).toBeLessThan(8_192);
      expect(pendingOf(browser).length).toBeLessThan(4);
    }
    expect((await browser.go(returns[0] ?? '')).status).toBe(401);
    expect((await browser.go(returns[3] ?? '')).status).toBe(303);
  });

  it('signs in also from an address that is longer than a cookie', async () => {
    const browser = new Browser();
    const back = await tab(browser, `/console/bets?note=${'x'.repeat(3_500)}`);
    expect(pendingOf(browser).join().length).toBeLessThan(4_096);
    const { status, location } = await browser.go(back);
    expect([status, location]).toEqual([303, `${people.baseUrl}/console`]);
  });
});
