import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../admin/support/admin.ts';
import { hasChromium, startConsole, type TestConsole } from './support/rig.ts';

const GONE = { status: 404, body: '{"code":2,"message":"No such file"}' };

describe.skipIf(!hasChromium)('a gateway that was replaced', { timeout: 120_000 }, () => {
  let rig: TestConsole;
  beforeAll(async () => {
    rig = await startConsole({ operators: { alpha: {} } });
  }, 120_000);
  afterAll(() => rig.close());

  it('leaves no page blank whose script it does not have', async () => {
    const page = await rig.open('/nowhere');
    await page.route('**/console/assets/*.js', (route) => route.fulfill(GONE));
    await page.goto(`${rig.adminUrl}/console/bets`);
    const told = page.getByText('The console has not come.');
    // Hidden for three seconds, which a busy machine may have taken until here.
    const hidden = await page.evaluate<Record<'is' | 'isToBe' | 'for', unknown>>(`(() => {
      const one = document.querySelector('.not-here-yet');
      const { visibility, animationDelay } = getComputedStyle(one);
      const isToBe = one.getAnimations().length > 0;
      return { is: visibility === 'hidden', isToBe, for: animationDelay };
    })()`);
    expect(hidden).toMatchObject({ is: hidden.isToBe, for: '3s' });
    await told.waitFor();
    await page.unroute('**/console/assets/*.js');
    await page.reload();
    await page.getByRole('heading', { name: 'Bets' }).waitFor();
    expect(await told.count()).toBe(0);
    await page.close();
  });

  it('has the console loaded anew where a page’s script is gone', async () => {
    const page = await rig.open('');
    await page.getByRole('row', { name: 'alpha' }).waitFor();
    const files = '**/console/assets/*.js';
    let isAnew = false;
    page.on('request', (request) => (isAnew ||= request.isNavigationRequest()));
    await page.route(files, (route) => (isAnew ? route.continue() : route.fulfill(GONE)));
    await page.getByRole('link', { name: 'Books' }).click();
    await page.getByText('Nothing is booked').waitFor();
    expect(isAnew).toBe(true);
    await page.close();
  });

  it('tells whoever signs in why not, and hands the page to the keys of who is in', async () => {
    const page = await rig.open('/audit', { isStranger: true });
    const body = '{"code":9,"message":"The issuer gives you no role of this gateway"}';
    await page.route('**/admin/me', (route) => route.fulfill({ status: 401, body }));
    const field = page.getByLabel('Admin token');
    await field.waitFor();
    await page.unroute('**/admin/me');
    await page.route('**/admin/me', (route) => route.fulfill({ status: 403, body }));
    await field.fill('one.of.theirs');
    await page.keyboard.press('Enter');
    await page.getByText('The issuer gives you no role of this gateway').waitFor();
    expect(await page.getByText('does not answer').count()).toBe(0);
    await page.unroute('**/admin/me');
    await field.fill(ADMIN_TOKEN);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Audit' }).waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('main');
    await page.close();
  });
});
