import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { onServer } from '../support/server.ts';
import { hasChromium, startConsole, type TestConsole } from './support/rig.ts';

/** How soon a person who looks at Now must see that an operator is in trouble. */

describe.skipIf(!hasChromium)('the console in a browser', { timeout: 120_000 }, () => {
  let rig: TestConsole;
  beforeAll(async () => {
    rig = await startConsole({
      worker: true,
      operators: {
        alpha: {
          name: 'Alpha Casino',
          settle: { onFailure: 'queue' },
          delivery: { minBackoffMs: 300, maxBackoffMs: 300 },
        },
      },
    });
  }, 120_000);
  afterAll(() => rig.close());
  afterEach(() => {
    expect(rig.complaints).toEqual([]);
  });

  const wallet = () => rig.gateway.wallet('alpha');

  it('shows a player who complains what the wallet itself said', async () => {
    const player = await rig.gateway.player();
    wallet().misbehave('place', { kind: 'code', code: 7, message: 'cannot do that' }, { calls: 1 });
    const { transactionId } = await rig.gateway.service.place({ ...player, amount: '12.50' });

    const page = await rig.open('');
    await page.getByRole('searchbox', { name: 'Find a bet by its id' }).fill(transactionId);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: `Bet ${transactionId}` }).waitFor();
    await page.getByText('The wallet refused the bet: no money moved.').waitFor();
    await page
      .getByText(/400 code 7: cannot do that/)
      .first()
      .waitFor();
    await page.getByText('12.50', { exact: false }).first().waitFor();

    await page.getByRole('button', { name: 'service to gateway: place' }).click();
    await page.getByRole('dialog').getByText('"amount": 12.50').waitFor();
    const shown = await page.getByRole('dialog').innerText();
    expect(shown).toContain('$SIGNATURE');
    expect(shown).not.toContain(player.token);
    expect(page.url()).toContain('message=1');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.close();
  });

  it('shows within 5 s that an operator is down, holds it, and drains it on resume', async () => {
    const player = await rig.gateway.player();
    const { transactionId } = await rig.gateway.service.place({ ...player, amount: '3' });
    const page = await rig.open('');
    await page.getByRole('row', { name: /Alpha Casino.*all well/ }).waitFor();
    await wallet().down();
    await rig.gateway.service.rollback(transactionId);
    await page.getByRole('row', { name: /Alpha Casino.*1 waiting/ }).waitFor();
    await page.getByRole('link', { name: /Alpha Casino/ }).click();
    await page.getByRole('button', { name: 'Hold' }).click();
    await page.getByLabel('Reason').fill('their data centre is down');
    await page.getByRole('dialog').getByRole('button', { name: 'Hold' }).click();
    await page.locator('#main').getByText('their data centre is down').waitFor();
    await wallet().up();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
    await page.getByText('They go out as soon as they are due.').waitFor();
    await page.goBack();
    await page.getByRole('row', { name: /Alpha Casino.*all well/ }).waitFor();
    await page.close();
  });

  it('calls a session active until it has expired, and no longer', async () => {
    const { userId } = await rig.gateway.player();
    const page = await rig.open(`/players/${userId}`);
    const session = page.getByRole('listitem').filter({ hasText: 'USD' });
    await session.getByText('active').waitFor();
    await onServer(rig.gateway.databaseUrl, (client) =>
      client.query(
        `UPDATE sessions SET expires_at = now() - interval '1 s'
          WHERE player_id = (SELECT id FROM players WHERE user_id = $1)`,
        [userId],
      ),
    );
    await page.reload();
    await session.getByText('expired').waitFor();
    await page.close();
  });

  it('retries a dead letter until it is delivered', async () => {
    const player = await rig.gateway.player();
    const { transactionId } = await rig.gateway.service.place({ ...player, amount: '5' });
    wallet().misbehave('settle', { kind: 'reset' }, { calls: 1 });
    wallet().misbehave(
      'settle',
      { kind: 'code', code: 5, message: 'cannot do that' },
      { calls: 1 },
    );
    await rig.gateway.service.settle(transactionId, { amount: '9.10', resultType: 'won' });

    const page = await rig.open('/deliveries?state=dead');
    const row = page.getByRole('row', { name: new RegExp(transactionId) });
    await row.getByText('400 code 5: cannot do that').waitFor();
    await row.getByRole('link', { name: transactionId }).click();
    await page.getByText('The gateway has given up on the settle').waitFor();
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Retry' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByText(/The settle was delivered/).waitFor();
    await page.getByText('the wallet paid 9.10 USD').waitFor();
    await page.getByRole('link', { name: 'Audit' }).click();
    await page.getByRole('row', { name: /token.*delivery\.retry/ }).waitFor();
    await page.close();
  });
});
