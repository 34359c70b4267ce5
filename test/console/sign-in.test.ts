import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mayDo, PERSON_ROLES, type PersonRole, type Right } from '../../src/domain/caller.ts';
import { placedBet } from '../support/bet.ts';
import { insertDelivery } from '../support/deliveries.ts';
import { onServer } from '../support/server.ts';
import { type PeopleConsole, startPeopleConsole } from './support/people-rig.ts';
import { hasChromium } from './support/rig.ts';

const SESSION = '__Host-wagergate-session';

describe.skipIf(!hasChromium)('signing in at the console', { timeout: 120_000 }, () => {
  let rig: PeopleConsole;
  let userId = '';
  beforeAll(async () => {
    rig = await startPeopleConsole();
    const { gateway } = rig.people;
    const bet = await placedBet(gateway, { amount: '5' });
    userId = bet.player.userId;
    await onServer(gateway.databaseUrl, (client) =>
      insertDelivery(client, { state: 'dead', transactionId: 'dead-1' }),
    );
  }, 120_000);
  afterAll(() => rig.close());

  const consoleUrl = (path = '') => `${rig.people.baseUrl}/console${path}`;
  const known = (page: Page, actor: string) => page.locator('.me').getByText(actor).waitFor();
  const cookieOf = async (page: Page) =>
    (await page.context().cookies()).find(({ name }) => name === SESSION);

  async function signedIn(role: PersonRole, path = ''): Promise<Page> {
    rig.people.issuer.person = { email: `${role}@x.example`, roles: [role] };
    const { page } = await rig.person();
    await page.goto(consoleUrl(path));
    await page.getByRole('link', { name: 'Sign in with your account or a link' }).click();
    await known(page, `${role}@x.example`);
    return page;
  }

  it('through the issuer leads back to the page that was asked for, and out again', async () => {
    const page = await signedIn('support', '/deliveries?state=dead');
    expect(page.url()).toBe(consoleUrl('/deliveries?state=dead'));
    await page.getByRole('row', { name: /dead-1/ }).waitFor();
    expect(await cookieOf(page)).toMatchObject({
      ...{ httpOnly: true, secure: true, sameSite: 'Strict', path: '/' },
    });
    expect(await page.evaluate('document.cookie')).toBe('');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.context().close();
  });

  it('by a link works once, and leaves no secret in the address', async () => {
    const link = await rig.link('viewer');
    const secret = new URL(link).hash.slice(1);
    const { page } = await rig.person();
    await page.goto(link);
    await known(page, 'token');
    expect(page.url()).toBe(consoleUrl());
    expect(await page.evaluate('JSON.stringify([location.href, document.referrer])')).not.toContain(
      secret,
    );
    await page.goBack();
    expect(page.url()).not.toContain(secret);
    const { page: other } = await rig.person();
    await other.goto(link);
    await other.getByText('This link is no longer valid').waitFor();
    expect(await cookieOf(other)).toBeUndefined();
    await page.context().close();
    await other.context().close();
  });

  it('again in another tab, in another role, is seen by a tab that was open before as soon as it is refused', async () => {
    const { page, context } = await rig.person();
    await page.goto(await rig.link('admin'));
    await known(page, 'admin');
    await page.goto(consoleUrl('/operators/alpha'));
    await page.getByRole('button', { name: 'Hold' }).waitFor();
    // As behind a laptop's lid: the page asks again who it is only now and then.
    await page.route('**/admin/me', (route) => route.abort());
    const other = await context.newPage();
    await other.goto(await rig.link('viewer'));
    await known(other, 'viewer');
    await page.unroute('**/admin/me');
    await page.getByRole('button', { name: 'Hold' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('a wallet is being moved');
    await dialog.getByRole('button', { name: 'Hold' }).click();
    await dialog.getByText('Not for the role viewer').waitFor({ timeout: 10_000 });
    await page.locator('.me').getByText('viewer').waitFor({ timeout: 10_000 });
    await context.close();
  });

  it('by a cookie that somebody took ends with the sign-out of whose it is', async () => {
    const page = await signedIn('admin');
    const cookie = await cookieOf(page);
    if (cookie === undefined) throw new Error('no cookie');
    const { context, page: thief } = await rig.person();
    await context.addCookies([cookie]);
    await thief.goto(consoleUrl());
    await known(thief, 'admin@x.example');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await thief.reload();
    await thief.getByRole('heading', { name: 'Sign in' }).waitFor();
    await context.close();
    await page.context().close();
  });

  it('helps no page of another site: it can neither read nor change nor frame anything', async () => {
    const page = await signedIn('admin');
    const foreign = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(`<!doctype html><iframe src="${consoleUrl()}"></iframe>
        <form method="post" action="${rig.people.baseUrl}/admin/reload"></form>`);
    });
    await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
    const { port } = foreign.address() as AddressInfo;
    // Another name for the same machine, so the browser treats it as another site.
    await page.goto(`http://localhost:${port}/`);
    const read = `fetch('${rig.people.baseUrl}/admin/me', { credentials: 'include' }).then(() => 'read', () => 'refused')`;
    expect(await page.evaluate(read)).toBe('refused');
    expect(page.frames().some((frame) => frame.url().includes('/console'))).toBe(false);
    const answering = page.waitForResponse((response) => response.url().endsWith('/admin/reload'));
    await page.evaluate('document.forms[0].submit()');
    expect((await answering).status()).toBe(401);
    await page.waitForURL('**/admin/reload');
    await page.goto(consoleUrl());
    await known(page, 'admin@x.example');
    await page.context().close();
    foreign.closeAllConnections();
    await new Promise((resolve) => foreign.close(resolve));
  });

  /** Where each button is, and the right that its route requires. */
  const BUTTONS: readonly (readonly [path: () => string, name: string, right: Right])[] = [
    [() => '/operators/alpha', 'Hold', 'operate'],
    [() => '/operators/alpha', 'Probe', 'operate'],
    [() => '/operators/alpha', 'Assign', 'administer'],
    [() => '/operators/alpha', 'Open', 'administer'],
    [() => '/operators/alpha', 'Keep closed', 'administer'],
    [() => '/bets/dead-1', 'Retry', 'operate'],
    [() => '/bets/dead-1', 'Resolve', 'operate'],
    [() => '/deliveries?state=dead', 'Retry all 1 dead', 'operate'],
    [() => '/settings', 'Reload', 'administer'],
    [() => `/players/${userId}`, 'Revoke all', 'operate'],
    [() => `/players/${userId}`, 'Export', 'personal'],
    [() => `/players/${userId}`, 'Forget', 'administer'],
  ];

  /** To which roles the list of bets shows personal data. */
  const SHOWN = { viewer: false, finance: false, support: true, admin: true };

  it.each(PERSON_ROLES)(
    'gives %s its own buttons and personal data and no others',
    async (role) => {
      const page = await signedIn(role, '/bets');
      await page.getByRole('table', { name: 'Bets, newest first' }).waitFor();
      expect(await page.getByLabel('Player at the operator').count()).toBe(SHOWN[role] ? 1 : 0);
      expect((await page.content()).includes(userId)).toBe(SHOWN[role]);
      for (const [path, buttons] of Map.groupBy(BUTTONS, ([at]) => at())) {
        await page.goto(consoleUrl(path));
        await known(page, `${role}@x.example`);
        const isClosed = path.startsWith('/players/') && !mayDo({ role }, 'personal');
        if (isClosed) await page.getByText(`The role ${role} may not do this`).waitFor();
        for (const [, name, right] of buttons) {
          const told = `${role}, ${path}: ${name}`;
          const button = page.getByRole('button', { name, exact: true });
          if (isClosed) {
            expect(await button.count(), told).toBe(0);
            continue;
          }
          await button.first().waitFor();
          expect(await button.first().isEnabled(), told).toBe(mayDo({ role }, right));
        }
      }
      await page.context().close();
    },
  );

  it('tells even without a mouse why a button is not for a role, and for which role it is', async () => {
    const page = await signedIn('viewer', '/bets/dead-1');
    const resolve = page.getByRole('button', { name: 'Resolve', exact: true });
    await resolve.focus();
    await page.keyboard.press('Enter');
    const told = page.getByRole('dialog');
    await told
      .getByText('Not for the role viewer. Ask somebody with the role support or admin.')
      .waitFor();
    expect(await told.getByRole('button').allTextContents()).toEqual(['✕', 'Close']);
    expect(await told.getByRole('textbox').count()).toBe(0);
    await told.getByRole('button', { name: 'Close' }).last().click();
    await told.waitFor({ state: 'detached' });
    await page.context().close();
  });

  it.each(['/link', '/sign-in', '/callback'])(
    'asks for no icon that its policy blocks, at %s',
    async (path) => {
      // Otherwise Firefox asks for /favicon.ico, and reports an error at each sign-in.
      const response = await fetch(consoleUrl(path), { redirect: 'manual' });
      expect(response.headers.get('content-security-policy')).toContain('img-src data:;');
      if (response.status !== 302) {
        expect(await response.text()).toContain('<link rel="icon" href="data:,">');
      }
    },
  );
});
