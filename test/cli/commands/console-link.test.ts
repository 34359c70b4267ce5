import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN, startAdmin, type TestAdmin } from '../../admin/support/admin.ts';
import { Browser } from '../../admin/support/people.ts';
import { wagergate } from '../support/command-line.ts';

let admin: TestAdmin;
beforeAll(async () => {
  admin = await startAdmin();
});
afterAll(() => admin.close());

const link = (args: readonly string[] = [], token = ADMIN_TOKEN) =>
  wagergate(['console', 'link', '--admin', admin.baseUrl, ...args], {
    env: { ADMIN_TOKEN: token },
  });

describe('wagergate console link', () => {
  it('prints a link that signs one browser in, with the role', async () => {
    const { code, stdout } = await link(['--role', 'viewer']);
    expect(code).toBe(0);
    const url = new URL(stdout.trim());
    expect(`${url.origin}${url.pathname}`).toBe(`${admin.baseUrl}/console/link`);
    const browser = new Browser();
    const answer = await browser.post(url.href, `token=${url.hash.slice(1)}`);
    expect(answer.location).toBe(`${admin.baseUrl}/console`);
    const me = await browser.go(`${admin.baseUrl}/admin/me`);
    expect(me.json).toEqual({ actor: 'token', role: 'viewer', rights: ['read'] });
  });

  it('prints it for scripts', async () => {
    const { stdout } = await link(['--json']);
    expect(JSON.parse(stdout)).toEqual({
      url: expect.stringContaining('/console/link#'),
      role: 'admin',
      expiresAt: expect.stringMatching(/Z$/),
    });
  });

  it('says what is wrong', async () => {
    const stranger = await link([], 'another-token-that-is-long-enough-too');
    expect([stranger.code, stranger.stderr]).toEqual([
      1,
      expect.stringContaining('has another ADMIN_TOKEN'),
    ]);
    expect((await link(['--role', 'root'])).code).toBe(2);
  });
});
