import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { betInDoubt } from '../money-safety/support/bets.ts';
import { insertDelivery } from '../support/deliveries.ts';
import { onServer } from '../support/server.ts';
import { barriersOf, hasChromium, startConsole, type TestConsole } from './support/rig.ts';

/** The lines of the file that a button lets the browser save. */
async function kept(page: Page, click: () => Promise<void>): Promise<readonly string[]> {
  const downloading = page.waitForEvent('download');
  await click();
  const text = await readFile(await (await downloading).path(), 'utf8');
  return text.trimEnd().split('\n');
}

describe.skipIf(!hasChromium)('what the desk does in the console', { timeout: 120_000 }, () => {
  let rig: TestConsole;
  beforeAll(async () => {
    rig = await startConsole({ operators: { alpha: {}, beta: {} } });
  }, 120_000);
  afterAll(() => rig.close());
  afterEach(() => {
    expect(rig.complaints).toEqual([]);
  });

  const auditRows = (action: string) =>
    onServer(rig.gateway.databaseUrl, async (client) => {
      const { rows } = await client.query(
        'SELECT subject, reason FROM audit WHERE action = $1 ORDER BY id',
        [action],
      );
      return rows;
    });

  it('resolves a selection of dead letters, each on record with the reason (I12)', async () => {
    const ids = await onServer(rig.gateway.databaseUrl, async (client) => [
      await insertDelivery(client, { state: 'dead', transactionId: 'dead-1' }),
      await insertDelivery(client, { state: 'dead', transactionId: 'dead-2' }),
      await insertDelivery(client, { state: 'pending', transactionId: 'waits' }),
    ]);
    const page = await rig.open('/deliveries');
    await page.getByLabel('Select the rollback of waits').check();
    await page.getByLabel('Select the rollback of dead-1').check();
    await page.getByRole('button', { name: 'Retry 2 selected' }).waitFor();
    expect(await page.getByRole('button', { name: /^Resolve/ }).count()).toBe(0);
    await page.getByLabel('Select the rollback of waits').uncheck();
    await page.getByLabel('Select the rollback of dead-2').check();
    await page.getByRole('button', { name: 'Resolve 2 selected' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('their books agree');
    await dialog.getByRole('button', { name: 'Resolve 2 selected' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('2 of 2 looked at, 2 done').waitFor();
    await page.getByRole('row', { name: /dead-1.*resolved/ }).waitFor();
    expect(await auditRows('delivery.resolve')).toEqual(
      ids.slice(0, 2).map((id) => ({ subject: `delivery ${id}`, reason: 'their books agree' })),
    );
    await page.close();
  });

  it('ends a doubt about a result by what a person found at the wallet, on record (I12)', async () => {
    const { transactionId } = await betInDoubt(rig.gateway, { operatorId: 'alpha' });
    const page = await rig.open(`/bets/${transactionId}`);
    const doubt = page.getByText('sent; whether the wallet has it is unknown');
    await doubt.waitFor();
    const say = { name: 'Say what it holds' };
    await page.getByRole('button', say).click();
    const dialog = page.getByRole('dialog');
    const resolve = dialog.getByRole('button', say);
    await dialog.getByLabel('Reason').fill('paid, says their support');
    // Nothing is chosen for anybody.
    await resolve.click();
    await dialog.getByLabel('The wallet holds').selectOption('a result');
    expect(await barriersOf(page)).toEqual([]);
    expect(await dialog.getByLabel('Amount of the result').inputValue()).toBe('20');
    await resolve.click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('A person has resolved the result by hand (won): 20').waitFor();
    await page.getByText('A person has closed the settle by hand.').waitFor();
    expect(await doubt.count()).toBe(0);
    const record = { subject: `bet ${transactionId}`, reason: 'paid, says their support' };
    expect(await auditRows('bet.resolve')).toEqual([record]);
    await page.close();
  });

  it('releases what is held for its bet’s wallet even if wallet.generation was lowered to 1', async () => {
    await onServer(rig.gateway.databaseUrl, async (client) => {
      await insertDelivery(client, { operator: 'beta', transactionId: 'of-the-newer-wallet' });
      await client.query(
        `UPDATE bets SET generation = 2 WHERE transaction_id = 'of-the-newer-wallet'`,
      );
      await client.query(`UPDATE deliveries SET held = true WHERE operator_id = 'beta'`);
    });
    const page = await rig.open('/operators/beta');
    const figure = (name: string) => page.locator('.figure', { hasText: name }).getByRole('link');
    await expect.poll(() => figure('Held').textContent()).toBe('1');
    expect(await figure('Pending').first().textContent()).toBe('0');
    await page.getByText('but for those of other wallets, which wait for a release').waitFor();
    await page.getByRole('button', { name: 'Release' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Up to generation').fill('2');
    await dialog.getByLabel('Reason').fill('the new books were given up');
    await dialog.getByRole('button', { name: 'Release' }).click();
    await dialog.waitFor({ state: 'detached' });
    // Nothing else on the page says so where nothing was held.
    await page.getByText('Released just now: bets of generations up to 2.').waitFor();
    expect(await auditRows('deliveries.release')).toEqual([
      { subject: 'operator beta', reason: 'the new books were given up' },
    ]);
    const held = await onServer(rig.gateway.databaseUrl, (client) =>
      client.query(`SELECT held FROM deliveries WHERE transaction_id = 'of-the-newer-wallet'`),
    );
    expect(held.rows).toEqual([{ held: false }]);
    await page.close();
  });

  it('proposes to release up to the present generation, also where that was lowered meanwhile', async () => {
    const page = await rig.open('/nowhere');
    let generation = 3;
    await page.route('**/admin/operators/alpha', async (route) => {
      const answer = await (await route.fetch()).json();
      answer.settings['wallet.generation'] = `${generation}`;
      await route.fulfill({ json: answer });
    });
    await page.goto(`${rig.adminUrl}/console/operators/alpha`);
    await page.getByText('The wallet is of generation 3').waitFor();
    generation = 2;
    await page.getByText('The wallet is of generation 2').waitFor();
    await page.getByRole('button', { name: 'Release' }).click();
    expect(await page.getByLabel('Up to generation').inputValue()).toBe('2');
    await page.close();
  });

  it('says of a count on an operator’s page that there may be more, as Now does', async () => {
    const page = await rig.open('/nowhere');
    await page.route('**/admin/operators/alpha', async (route) => {
      const answered = await (await route.fetch()).json();
      const countsAtLeast = ['openDeliveries', 'deadDeliveries', 'unresolvedBets'];
      const counts = { openDeliveries: 5_000, heldDeliveries: 2_000, deadDeliveries: 9_000 };
      await route.fulfill({ json: { ...answered, ...counts, unresolvedBets: 7, countsAtLeast } });
    });
    await page.goto(`${rig.adminUrl}/console/operators/alpha`);
    const figures = page.locator('.figures');
    await figures.getByText('9,000+').waitFor();
    expect((await figures.innerText()).split('\n').slice(0, 8)).toEqual([
      'Dead',
      '9,000+',
      'Pending',
      '3,000+',
      'Held',
      '2,000+',
      'Unresolved bets',
      '7+',
    ]);
    await page.close();
  });

  it('shows at once what waits for an operator whose file is gone', async () => {
    await onServer(rig.gateway.databaseUrl, (client) =>
      insertDelivery(client, { operator: 'gone' }),
    );
    const page = await rig.open('/');
    await page.getByText('gone has no file in operators/: 1 waiting, 0 dead').waitFor();
    await page.getByRole('link', { name: 'Its deliveries' }).click();
    await page.getByRole('row', { name: /rollback.*gone/ }).waitFor();
    await page.getByRole('option', { name: 'gone' }).waitFor({ state: 'attached' });
    await page.close();
  });

  it('puts no further look at a player on record where a window is only come back to (I12)', async () => {
    const { userId } = await rig.gateway.player();
    const page = await rig.open(`/players/${userId}`);
    await page.getByText('No bets yet').waitFor();
    const looks = async () =>
      (await auditRows('player.viewed')).filter(({ subject }) => subject === `player ${userId}`);
    // React asks twice in a development build.
    const before = (await looks()).length;
    expect(before).toBeGreaterThan(0);
    // Each return to the window asks who is signed in, unless it was asked within the last second.
    let returns = 0;
    page.on('response', (response) => {
      if (response.url().endsWith('/admin/me')) returns += 1;
    });
    const comeBack = () => page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
    const seen = async () => {
      await comeBack();
      return returns;
    };
    await expect.poll(seen, { timeout: 15_000, interval: 200 }).toBeGreaterThanOrEqual(3);
    expect(await looks()).toHaveLength(before);
    await page.close();
  });

  it('says of when a player’s page is, which is asked for once', async () => {
    const { userId } = await rig.gateway.player();
    const page = await rig.open(`/players/${userId}`);
    await page
      .locator('.heading')
      .getByText(/^as of \d\d:\d\d:\d\d$/)
      .waitFor();
    await page.close();
  });

  it('exports and forgets a player, who is refused while a bet is open', async () => {
    const player = await rig.gateway.player();
    const { transactionId } = await rig.gateway.service.place({ ...player, amount: '5' });
    const page = await rig.open(`/players/${player.userId}`);
    const open = (label: string) => page.getByRole('button', { name: label, exact: true }).click();
    const dialog = page.getByRole('dialog');
    await open('Export');
    const lines = await kept(page, () => dialog.getByRole('button', { name: 'Export' }).click());
    expect(lines[0]).toContain(player.userId);
    expect(lines[1]).toContain(transactionId);
    await dialog.waitFor({ state: 'detached' });

    const forget = async () => {
      await dialog.getByLabel('Reason').fill('asked for it');
      await dialog.getByRole('button', { name: 'Forget' }).click();
    };
    await open('Forget');
    await forget();
    await dialog.getByText(`Bets of the player are open: ${transactionId} (409)`).waitFor();
    await rig.gateway.service.settle(transactionId, { amount: '0', resultType: 'lost' });
    await forget();
    await page.getByText(/Blanked in \d+ messages/).waitFor();
    expect(await auditRows('player.forgotten')).toEqual([
      { subject: `player ${player.userId}`, reason: 'asked for it' },
    ]);
    await page.close();
  });

  it('probes a wallet, and shows its answer', async () => {
    const page = await rig.open('/operators/alpha');
    await page.getByText('Not asked yet.').waitFor();
    await page.getByRole('button', { name: 'Probe' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Probe' }).click();
    await page.getByText('refuses an unknown player in proper form').waitFor();
    await page.getByText('Without TLS there is no certificate.').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.close();
  });

  it('shows what a reload would change, and which file is wrong', async () => {
    const { configFolder } = rig.gateway;
    const page = await rig.open('/settings');
    await page.getByText('Nothing: what the gateway reads in the folder is in force.').waitFor();
    await writeFile(join(configFolder, 'operators/delta.yaml'), 'id: delta\nstatus: asleep\n');
    await page.getByText('operators/delta.yaml', { exact: true }).waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await rm(join(configFolder, 'operators/delta.yaml'));
    await page.getByText('Nothing: what the gateway reads in the folder is in force.').waitFor();
    await page.close();
  });

  it('assigns templates to an operator, and says whose they are already', async () => {
    const page = await rig.open('/operators/alpha');
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Assign' }).click();
    await dialog.getByLabel('Ids at the service').fill('57, 58');
    await dialog.getByRole('button', { name: 'Assign' }).click();
    await page.getByText('2 assigned, 0 were its own before.').waitFor();
    await page.close();
  });

  it('exports the audit that the filter finds', async () => {
    const page = await rig.open('/audit?action=player.exported');
    await page.getByRole('row', { name: /player\.exported/ }).waitFor();
    const click = () => page.getByRole('button', { name: 'Export' }).click();
    const actions = (await kept(page, click)).map((line) => JSON.parse(line).action);
    expect(actions).toEqual(['player.exported']);
    await page.close();
  });

  it('does not keep a session alive by pages that ask for themselves', async () => {
    const asked: (string | undefined)[] = [];
    const page = await rig.open('');
    page.on('request', (request) => {
      asked.push(request.headers()['x-wagergate-background']);
    });
    await page.clock.install();
    await page.clock.fastForward(61_000);
    await page.waitForRequest((request) => request.headers()['x-wagergate-background'] === '1');
    await page.keyboard.press('j');
    await page.waitForRequest((request) => request.headers()['x-wagergate-background'] !== '1');
    expect(asked).toContain('1');
    await page.close();
  });
});
