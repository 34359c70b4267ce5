import type { FastifyRequest } from 'fastify';
import { expect, it } from 'vitest';
import { cookieIn, SESSION_COOKIE } from '../../../src/admin/access/cookies.ts';
import { partly } from '../../support/partly.ts';

const { name } = SESSION_COOKIE;
const sent = (cookie?: string) =>
  cookieIn(partly<FastifyRequest>({ headers: { cookie } }), SESSION_COOKIE);

it.each([
  [undefined, undefined],
  ['', undefined],
  [`${name}=one`, 'one'],
  [`other=two; ${name}=one;x=y`, 'one'],
  [`x${name}=one`, undefined],
  [`${name}x=one`, undefined],
  [`${name}=one; ${name}=two`, 'one'],
  // A browser lets any sibling host set these: their names do not begin with `__Host-`.
  [`\u00a0${name}=two`, undefined],
  [`${name}=one; \u00a0${name}=two`, 'one'],
  [`${name}=one;\t x=y`, 'one'],
])('of %j the session is %j', (cookie, value) => {
  expect(sent(cookie)).toBe(value);
});

it('reads a header full of blanks at once: it comes before anybody has signed in (I7)', () => {
  const before = process.cpuUsage();
  expect(sent(`x${' \t'.repeat(100_000)}y; ${name}=one${' '.repeat(100_000)}`)).toBe('one');
  // In quadratic time it would be many seconds; of the 16 KiB that Node takes, a tenth of one.
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(1_000);
});
