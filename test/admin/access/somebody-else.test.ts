import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser, signIn, startPeople, type TestPeople } from '../support/people.ts';

const ANN = { email: 'ann@x.example', roles: ['viewer'] };

let people: TestPeople;
beforeAll(async () => {
  people = await startPeople();
});
afterAll(() => people.close());

/** What the issuer is told to ask, where this browser begins a sign-in now. */
async function prompt(browser: Browser): Promise<string | null> {
  const begun = await browser.go(`${people.baseUrl}/console/sign-in`);
  return new URL(begun.location).searchParams.get('prompt');
}

describe('the issuer, which goes on knowing who sat here last,', () => {
  it('is not told to ask whoever comes without having left', async () => {
    expect(await prompt(new Browser())).toBeNull();
  });

  it('asks after a sign-out, at each beginning, until somebody has signed in', async () => {
    const browser = new Browser();
    people.issuer.person = ANN;
    await signIn(browser, people);
    await browser.post(`${people.baseUrl}/console/sign-out`);
    expect([await prompt(browser), await prompt(browser)]).toEqual(['login', 'login']);
    const { ended } = await signIn(browser, people);
    expect(ended.status).toBe(303);
    expect(await prompt(browser)).toBeNull();
  });

  it('asks somebody without a role, who may have another account', async () => {
    const browser = new Browser();
    people.issuer.person = { email: 'ann@home.example', roles: [] };
    const { ended } = await signIn(browser, people);
    expect([ended.status, ended.text]).toEqual([403, expect.stringContaining('another account')]);
    expect(await prompt(browser)).toBe('login');
    people.issuer.person = ANN;
    expect((await signIn(browser, people)).ended.status).toBe(303);
  });

  it('asks again after somebody turned back there, or was not let in', async () => {
    const browser = new Browser();
    people.issuer.person = ANN;
    await signIn(browser, people);
    await browser.post(`${people.baseUrl}/console/sign-out`);
    people.issuer.refusal = { error: 'access_denied' };
    expect((await signIn(browser, people)).ended.status).toBe(401);
    expect(await prompt(browser)).toBe('login');
    const another = new Browser();
    expect((await signIn(another, people)).ended.status).toBe(401);
    people.issuer.refusal = undefined;
    expect(await prompt(another)).toBe('login');
  });

  it('that cannot ask is asked without it the next time, so that nobody is locked out', async () => {
    const browser = new Browser();
    people.issuer.person = ANN;
    await browser.post(`${people.baseUrl}/console/sign-out`);
    people.issuer.refusal = { error: 'invalid_request' };
    expect((await signIn(browser, people)).ended.status).toBe(401);
    people.issuer.refusal = undefined;
    expect(await prompt(browser)).toBeNull();
  });
});
