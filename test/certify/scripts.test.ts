import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { certification, certified, PLAYER, SECRET, sandbox } from './support/certification.ts';

/** What a script asks of the machine that it runs on. */
const hasTools = ['curl', 'openssl'].every(
  (tool) => spawnSync(tool, ['--help']).error === undefined,
);

/** The calls of a case as lines for a shell. */
const scriptOf = (cases: Awaited<ReturnType<typeof certification>>['cases'], id: string) =>
  cases.find((one) => one.id === id)?.script ?? '';

describe('the calls of a case', () => {
  it('name themselves by one id, in the header and in the body, as those of the gateway do', async () => {
    const { calls } = await certified(await sandbox());
    const named = calls.flatMap(({ request: { headers, body } }) => {
      const said = /"requestId": ?"([^"]+)"/.exec(body.toString())?.[1];
      return said === undefined ? [] : [{ said, header: headers['x-request-id'] }];
    });
    expect(named.length).toBeGreaterThan(500);
    expect(named.filter(({ said, header }) => said !== header)).toEqual([]);
  });
});

describe('the calls of a case for a shell', () => {
  it('carry new ids and no token, also of one that begins like another', async () => {
    const wallet = await sandbox();
    const other = { userId: 'bob', token: `${PLAYER.token}-of-bob` };
    wallet.addPlayer({ user: 'bob', balances: { USD: '500' }, tokens: { [other.token]: 'USD' } });
    const wishes = { only: ['place-other-token', 'balance-steady'], other, verbose: true };
    const { cases } = await certification(wallet, wishes);
    const places = scriptOf(cases, 'place-other-token');
    expect(places).toContain(`"token":"'"$OTHER_TOKEN"'"`);
    expect(places).not.toContain('-of-bob');
    const balances = scriptOf(cases, 'balance-steady');
    expect(balances.match(/"requestId":"'"\$REQUEST_\d"'"/g)).toHaveLength(2);
    expect(balances).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/);
  });

  it.skipIf(!hasTools)('get the same answers again', async () => {
    const wallet = await sandbox();
    const only = ['signatures', 'place-concurrent', 'settle-repeat-same-request', 'shape-not-json'];
    const { cases } = await certification(wallet, { only, verbose: true });
    const env = { ...process.env, WALLET_SECRET: SECRET, PLAYER_TOKEN: PLAYER.token };
    for (const { id, script, calls } of cases) {
      const { stdout, stderr } = await promisify(execFile)('sh', ['-c', script ?? ''], { env });
      const statuses = Array.from(
        stdout.matchAll(/(?<=^|\n|\})(\d{3})\n/g),
        ([, status]) => status,
      );
      const expected = calls.map(({ answer }) => String(answer?.status));
      // Those beside one another end in any order.
      expect([id, stderr, statuses.sort()]).toEqual([id, '', expected.sort()]);
    }
  });
});
