import { describe, expect, it } from 'vitest';
import type { Certificate } from '../../../src/certify/certificate/certificate.ts';
import { isOnPath, run } from '../../../tools/lib/command.ts';
import type { SimulatedWallet } from '../../../tools/simulator/wallet/wallet.ts';
import { certification, certified, PLAYER, SECRET, sandbox } from '../support/certification.ts';
import { acceptsAnySignature } from '../support/flawed-answers.ts';

const UUID_4 = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

/** Accepts any signature, so that each case about signatures has a finding. */
async function found(): Promise<{ wallet: SimulatedWallet; cases: Certificate['cases'] }> {
  const wallet = await sandbox(acceptsAnySignature);
  const { cases } = await certification(wallet, { only: ['signatures'] });
  return { wallet, cases: cases.filter(({ verdict }) => verdict === 'failed') };
}

/** @returns the statuses that a shell prints after a developer has set the variables and pasted the lines */
async function pasted(script: string | null): Promise<readonly string[]> {
  const set = `WALLET_SECRET='${SECRET}'\nPLAYER_TOKEN='${PLAYER.token}'\n`;
  const { code, stdout, stderr } = await run('sh', ['-e', '-c', `${set}${script}`]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.split('\n').filter((line) => /^\d{3}$/.test(line));
}

describe('the calls of a case', () => {
  it('name themselves by one id, in the header and in the body, as those of the gateway do', async () => {
    const only = ['place', 'settle', 'unsettle', 'rollback', 'update'] as const;
    const { calls } = await certified(await sandbox(), { only });
    const named = calls.flatMap(({ request: { headers, body } }) => {
      const said = /"requestId": ?"([^"]+)"/.exec(body.toString())?.[1];
      return said === undefined ? [] : [{ said, header: headers['x-request-id'] }];
    });
    expect(named.length).toBeGreaterThan(200);
    expect(named.filter(({ said, header }) => said !== header)).toEqual([]);
  });

  it('are given with new ids and without a token, even if one begins like another', async () => {
    const wallet = await sandbox();
    const other = { userId: 'bob', token: `${PLAYER.token}-of-bob` };
    wallet.addPlayer({ user: 'bob', balances: { USD: '500' }, tokens: { [other.token]: 'USD' } });
    const wishes = { only: ['place-other-token', 'balance-steady'], other, verbose: true };
    const { cases } = await certification(wallet, wishes);
    const linesOf = (id: string) => cases.find((one) => one.id === id)?.script ?? '';
    const places = linesOf('place-other-token');
    expect(places).toContain(`"token":"'"$OTHER_TOKEN"'"`);
    expect(places).not.toContain('-of-bob');
    const balances = linesOf('balance-steady');
    expect(balances.match(/"requestId":"'"\$REQUEST_\d"'"/g)).toHaveLength(2);
    expect(balances).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/);
  });
});

describe.skipIf(!isOnPath('curl') || !isOnPath('openssl'))('the lines of a finding', () => {
  it('make each of its calls again, signed in the same way, and are answered alike', async () => {
    const { wallet, cases } = await found();
    expect(cases.length).toBeGreaterThan(10);
    for (const { id, script, seen } of cases) {
      const before = wallet.requests.length;
      const statuses = await pasted(script);
      expect({ id, statuses }).toEqual({ id, statuses: seen.map(({ status }) => String(status)) });
      // A payload is included only if the case is about that.
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

  it('are sent beside one another where the calls were, and repeat what they repeated', async () => {
    const wallet = await sandbox();
    const only = ['place-concurrent', 'settle-repeat-same-request', 'shape-not-json'];
    const { cases } = await certification(wallet, { only, verbose: true });
    for (const { id, script, seen } of cases) {
      const statuses = await pasted(script);
      // Concurrent requests end in any order.
      const expected = seen.map(({ status }) => String(status));
      expect([id, ...statuses].sort()).toEqual([id, ...expected].sort());
    }
    expect(cases.length).toBe(3);
  });
});
