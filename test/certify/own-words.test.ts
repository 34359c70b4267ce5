import { describe, expect, it } from 'vitest';
import { certification, SECRET, sandbox } from './support/certification.ts';
import { declined, flawed, type Mistake } from './support/mistake.ts';

const refusesPlaces = flawed((call) => (call.operation === 'place' ? declined(5) : undefined));

/** Takes places for wrong, in these words. */
const says = (body: string, status = 400): Mistake => ({
  ...refusesPlaces,
  rewrite: (answer, call) => (call.operation === 'place' ? { status, body } : answer),
});

const only = ['place-enough'] as const;

describe("a wallet that refuses what it should take is quoted: its developer knows the wallet's words", () => {
  it.each([
    ['its message', 400, '{"code":5,"message":"amount must be float"}'],
    ['a validator', 422, '{"detail":[{"loc":["body","coefficient"],"msg":"Input should be 1"}]}'],
    ['a warning before the answer', 200, '<b>Warning</b>: Undefined key\n\u001b[2J{"a":1}'],
  ])('%s', async (_, status, body) => {
    const { cases } = await certification(await sandbox(says(body, status)), { only });
    const inOneLine = body.replace('\n\u001b', ' ');
    expect(cases[0]?.reasons).toContain(`the wallet says: ${inOneLine}`);
  });

  it('but not with its secret, nor at length', async () => {
    const mistake = says(`{"code":5,"message":"${SECRET} ${'x'.repeat(500)}"}`);
    const { cases } = await certification(await sandbox(mistake), { only });
    const said = cases[0]?.reasons.find((one) => one.startsWith('the wallet says: ')) ?? '';
    expect(said).toMatch(/"message":"\*\*\* x+…$/);
    expect(said.length).toBeLessThan(250);
  });

  it('also where it gives no profile', async () => {
    const body = '{"detail":"Not Found"}';
    const mistake = { rewrite: () => ({ status: 404, body }) };
    const { cases } = await certification(await sandbox(mistake), { only });
    expect(cases[0]?.reasons).toContain(`the wallet says: ${body}`);
  });
});

it('an answer without a body is called empty, as one is that its language could not write', async () => {
  const mistake = { rewrite: () => ({ status: 200, body: '' }) };
  const { findings } = await certification(await sandbox(mistake));
  expect(findings[0]?.what).toBe('the profile has no userId: HTTP 200, and the body is empty');
});

it('a place that makes no sense to a wallet gets advice about its form, not about its signature', async () => {
  const { findings } = await certification(await sandbox(refusesPlaces), {
    only: ['signature-good'],
  });
  expect(findings[0]?.advice).toMatch(/^The wallet refused the form of a proper place/);
});

it('a wallet that fails beside other calls is told that its database may have given a transaction up', async () => {
  const wallet = await sandbox(says('', 500));
  const { findings } = await certification(wallet, { only: ['place-concurrent'] });
  expect(findings[0]?.advice).toMatch(
    /^The wallet failed: .*deadlock.* begin that transaction again/,
  );
});
