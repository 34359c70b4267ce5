import { describe, expect, it } from 'vitest';
import type { Certificate } from '../../src/certify/certificate.ts';
import { isOnPath, run } from '../../tools/lib/command.ts';
import type { SimulatedWallet } from '../../tools/simulator/wallet/wallet.ts';
import { certification, PLAYER, SECRET, sandbox } from './support/certification.ts';
import { acceptsAnySignature } from './support/flawed-answers.ts';

const UUID_4 = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

/** Takes whatever is signed, so that each case about signatures has a finding. */
async function found(): Promise<{ wallet: SimulatedWallet; cases: Certificate['cases'] }> {
  const wallet = await sandbox(acceptsAnySignature);
  const { cases } = await certification(wallet, { only: ['signatures'] });
  return { wallet, cases: cases.filter(({ verdict }) => verdict === 'failed') };
}

/** @returns the statuses that a shell prints when a developer has set the variables and pasted the lines */
async function pasted(script: string | null): Promise<readonly string[]> {
  const set = `WALLET_SECRET='${SECRET}'\nPLAYER_TOKEN='${PLAYER.token}'\n`;
  const { code, stdout, stderr } = await run('sh', ['-e', '-c', `${set}${script}`]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.split('\n').filter((line) => /^\d{3}$/.test(line));
}

describe.skipIf(!isOnPath('curl') || !isOnPath('openssl'))('the lines of a finding', () => {
  it('make each of its calls again, signed in the same way, and are answered alike', async () => {
    const { wallet, cases } = await found();
    expect(cases.length).toBeGreaterThan(10);
    for (const { id, script, seen } of cases) {
      const before = wallet.requests.length;
      const statuses = await pasted(script);
      expect({ id, statuses }).toEqual({ id, statuses: seen.map(({ status }) => String(status)) });
      // A payload is brought along where the case is about that, and nowhere else.
      const attached = wallet.requests
        .slice(before)
        .filter(({ headers }) => /^[\w-]+\.[\w-]+\.[\w-]{43}$/.test(`${headers['x-sign-jws']}`));
      const wanted = id === 'signature-attached-body' ? 1 : 0;
      expect({ id, attached: attached.length }).toEqual({ id, attached: wanted });
    }
  });

  it('make up ids of bets and requests that a wallet takes for UUIDs', async () => {
    const { wallet, cases } = await found();
    const before = wallet.requests.length;
    await pasted(cases.find(({ id }) => id === 'signature-foreign-settle')?.script ?? null);
    const bets = wallet.requests.slice(before).filter(({ path }) => path.endsWith('/bet'));
    expect(bets.length).toBe(2);
    for (const { body } of bets) {
      const { transactionId, requestId } = JSON.parse(body.toString('utf8'));
      expect(transactionId).toMatch(UUID_4);
      expect(requestId).toMatch(UUID_4);
    }
  });
});
