import { expect, it } from 'vitest';
import { certification, ids, sandbox } from './support/certification.ts';
import { lends, neverRefunds } from './support/flawed-wallets.ts';

it('judges a wallet that lends and keeps stakes to the end, although its player owes money by then', async () => {
  const wallet = await sandbox({
    flaw: (call, books) => neverRefunds.flaw?.(call, books) ?? lends.flaw?.(call, books),
  });
  const certificate = await certification(wallet);
  expect(certificate.verdict).toBe('not_fit');
  expect(ids(certificate, 'failed')).toContain('place-not-enough');
  const whole = ['place-concurrent-overdraw', 'place-exact-balance'];
  expect(ids(certificate, 'skipped')).toEqual(expect.arrayContaining(whole));
  const reasons = certificate.cases
    .filter(({ id }) => whole.includes(id))
    .flatMap((one) => one.reasons);
  expect(reasons).toEqual(whole.map(() => expect.stringMatching(/^the player has no money left/)));
});
