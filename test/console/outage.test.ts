import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { insertDelivery } from '../support/deliveries.ts';
import { onServer } from '../support/server.ts';
import { hasChromium, startConsole, type TestConsole } from './support/rig.ts';

const AWAY = { status: 503, body: '{"code":100,"message":"PostgreSQL is not available"}' };

describe.skipIf(!hasChromium)('what a page says in an outage', { timeout: 120_000 }, () => {
  let rig: TestConsole;
  beforeAll(async () => {
    rig = await startConsole({ operators: { alpha: {}, beta: {} } });
  }, 120_000);
  afterAll(() => rig.close());
  afterEach(() => {
    expect(rig.complaints).toEqual([]);
  });

  it('keeps saying why it shows nothing while it asks again', async () => {
    const page = await rig.open('/nowhere');
    let asked = 0;
    await page.route('**/admin/bets', async (route) => {
      asked += 1;
      // Two queries and their retries; a further one is never answered.
      if (asked <= 4) await route.fulfill(AWAY);
    });
    await page.goto(`${rig.adminUrl}/console/bets`);
    await page.getByText('PostgreSQL is not available (503)').waitFor();
    await expect.poll(() => asked).toBeGreaterThan(4);
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
    expect(await page.locator('.loading').count()).toBe(0);
    expect(await page.getByText('The bets cannot be shown.').count()).toBe(1);
    await page.close();
  });

  it('says at the first failure why, not after the repeat', async () => {
    const page = await rig.open('/nowhere');
    let asked = 0;
    await page.route('**/admin/bets', async (route) => {
      asked += 1;
      // React asks twice in a development build; the retry is never answered.
      if (asked <= 2) await route.fulfill(AWAY);
    });
    await page.goto(`${rig.adminUrl}/console/bets`);
    await page.getByText('PostgreSQL is not available (503)').waitFor();
    await page.close();
  });

  it('keeps what is typed to sign in when the window gets the focus again', async () => {
    const page = await rig.open('', { isStranger: true });
    const field = page.getByLabel('Admin token');
    await field.fill('half of a tok');
    let asked = 0;
    await page.route('**/admin/me', () => {
      asked += 1;
    });
    const seen = async () => {
      await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
      return asked;
    };
    await expect.poll(seen).toBeGreaterThan(0);
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
    expect(await field.inputValue({ timeout: 1_000 })).toBe('half of a tok');
    await page.close();
  });

  it('stays with its way out where another page cannot be had', async () => {
    const page = await rig.open('', { width: 1279 });
    await page.getByText('beta').first().waitFor();
    await page.route('**/console**', (route) => route.abort());
    await page.route('**/console/**', (route) => route.abort());
    await page.getByRole('link', { name: 'Books' }).click();
    await page.getByText('The gateway does not answer').waitFor();
    await page.getByRole('link', { name: 'Now', exact: true }).click();
    await page.getByRole('row', { name: 'beta' }).waitFor();
    await page.close();
    // The browser reports the missing file.
    rig.complaints.splice(0);
  });

  it('says that nobody answers, even if the machine has no network', async () => {
    const page = await rig.open('', { width: 1278 });
    await page.getByRole('row', { name: 'beta' }).waitFor();
    await page.context().setOffline(true);
    await page.getByText('What you see of the operators is not current.').waitFor();
    await page.context().setOffline(false);
    await page.getByText('is not current').waitFor({ state: 'detached' });
    await page.close();
  });

  it('says on Now that PostgreSQL takes no writes, where the rows look well, and that Redis is slow', async () => {
    const page = await rig.open('/nowhere');
    const states = { postgresql: 'read_only', redis: 'down' };
    await page.route('**/admin/operators', async (route) => {
      const json = await (await route.fetch()).json();
      await route.fulfill({ json: { ...json, dependencies: { ...states } } });
    });
    await page.goto(`${rig.adminUrl}/console`);
    await page.getByText('PostgreSQL takes no writes.').waitFor();
    await page.getByText('Restart no gateway meanwhile').waitFor();
    await page.getByRole('row', { name: 'alpha' }).getByText('all well').waitFor();
    Object.assign(states, { postgresql: 'up', redis: 'up' });
    await page.getByText('PostgreSQL takes no writes.').waitFor({ state: 'detached' });
    await page.getByText('Restart no gateway meanwhile').waitFor({ state: 'detached' });
    await page.close();
  });

  it.each([
    ['up', 'PostgreSQL answers, but not to that'],
    ['down', 'While it is away no bet is placed.'],
  ])(
    'does not call bets refused where nothing can be counted and PostgreSQL is %s',
    async (postgresql, words) => {
      const page = await rig.open('/nowhere');
      await page.route('**/admin/operators', async (route) => {
        const json = await (await route.fetch()).json();
        const [alpha] = json.items;
        const items = [{ ...alpha, openDeliveries: null, heldDeliveries: null }];
        await route.fulfill({
          json: { ...json, items, dependencies: { postgresql, redis: 'up' } },
        });
      });
      await page.goto(`${rig.adminUrl}/console`);
      await page.getByText(words).waitFor();
      expect(await page.getByRole('alert').count()).toBe(1);
      await page.close();
    },
  );

  it('says of deliveries that they wait where the breaker is open, as the command line does', async () => {
    const page = await rig.open('/nowhere');
    await page.route('**/admin/operators/alpha', async (route) => {
      const json = await (await route.fetch()).json();
      await route.fulfill({ json: { ...json, breaker: { read: 'closed', money: 'open' } } });
    });
    await page.goto(`${rig.adminUrl}/console/operators/alpha`);
    await page.getByText('They wait for the breaker of bets to close.').waitFor();
    expect(await page.getByText('They go out as soon as they are due.').count()).toBe(0);
    await page.close();
  });

  it('calls settings old only where they were not asked for in time', async () => {
    const page = await rig.open('/nowhere');
    await page.clock.install();
    await page.goto(`${rig.adminUrl}/console/settings`);
    await page.getByText('live', { exact: true }).waitFor();
    await page.clock.fastForward(14_000);
    expect(await page.locator('.fresh').innerText()).toBe('live');
    await page.close();
  });

  it('says that nothing waits only where nothing does', async () => {
    const page = await rig.open('/deliveries');
    await page.getByText('Nothing waits for a wallet or for a person.').waitFor();
    await onServer(rig.gateway.databaseUrl, (client) => insertDelivery(client));
    await page.goto(`${rig.adminUrl}/console/deliveries?state=dead&operation=update`);
    await page.getByText('None matches these filters.').waitFor();
    await page.goto(`${rig.adminUrl}/console/books?operator=beta`);
    await page.getByText('No wallet has confirmed a bet that fits these filters.').waitFor();
    await page.close();
  });

  it.each(['bets', 'books'])('finds in the %s an operator whose file is gone', async (name) => {
    await onServer(rig.gateway.databaseUrl, (client) =>
      insertDelivery(client, { operator: 'gone' }),
    );
    const page = await rig.open(`/${name}`);
    await page.getByLabel('Operator', { exact: true }).selectOption('gone');
    await page.waitForURL('**operator=gone');
    await page.close();
  });
});
