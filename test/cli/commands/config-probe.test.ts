import { createServer as createTlsServer } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SimulatedWallet, startWallet } from '../../../tools/simulator/wallet/wallet.ts';
import {
  folderWith,
  GATEWAY,
  operatorYaml,
  put,
  SERVICE_SECRET,
  walletSecret,
} from '../../config/support/folder.ts';
import {
  type OwnAnswer,
  type OwnWallet,
  startOwnWallet,
} from '../../wallets/support/own-wallet.ts';
import { SELF_SIGNED } from '../../wallets/support/self-signed.ts';
import { wagergate } from '../support/command-line.ts';

let good: SimulatedWallet;
let odd: OwnWallet;
let said: OwnAnswer;
beforeAll(async () => {
  good = await startWallet({ name: 'good', secret: walletSecret('alpha') });
  odd = await startOwnWallet(() => said);
});
afterAll(async () => {
  await good.close();
  await odd.close();
});

/** A folder with one operator for each wallet. */
function folderOf(wallets: Readonly<Record<string, string>>, more = ''): string {
  const files = Object.entries(wallets).map(([id, baseUrl]) => [
    `operators/${id}.yaml`,
    operatorYaml(id, '', `  allowPrivate: true\n  timeoutMs: 3000\n${more}`).replace(
      `https://wallet.${id}.example/sportsbook`,
      baseUrl,
    ),
  ]);
  return folderWith({ 'gateway.yaml': GATEWAY, ...Object.fromEntries(files) });
}

const probe = (folder: string, ...args: readonly string[]) =>
  wagergate(['config', 'check', '--probe', '--folder', folder, ...args]);

async function probedOdd(answer: OwnAnswer, more = '') {
  said = answer;
  const { code, stdout } = await probe(folderOf({ alpha: odd.baseUrl }, more), '--json');
  const { ok, wallets } = JSON.parse(stdout);
  expect(ok).toBe(code === 0);
  return { code, result: wallets[0].result, detail: wallets[0].detail };
}

describe('wagergate config check --probe', () => {
  it('says for each wallet how it answers, in a line with its latency', async () => {
    const folder = folderOf({ alpha: good.baseUrl, beta: 'http://127.0.0.1:1/' });
    const { code, stdout, stderr } = await probe(folder);
    expect(code).toBe(1);
    expect(stdout).toMatch(/\nalpha +ok +\d+ ms +http:\S+ +refuses an unknown player .* code 3/);
    expect(stdout).toMatch(
      /\nbeta +unreachable +\d+ ms +http:\S+ +no connection \(.*(?:ECONNREFUSED|EPIPE)/,
    );
    expect(stderr).toBe('error: 1 of 2 wallets did not answer well\n');
  });

  it('asks for nothing but a balance, signed, of a player that does not exist', async () => {
    const before = good.requests.length;
    const { code } = await probe(folderOf({ alpha: good.baseUrl }));
    expect(code).toBe(0);
    const asked = good.requests.slice(before);
    // One call is signed correctly and one is not: a wallet that accepts both lets everybody in.
    expect(asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /sportsbook/user/balance',
      'POST /sportsbook/user/balance',
    ]);
    expect(JSON.parse(String(asked[0]?.body))).toMatchObject({ userId: 'wagergate-probe' });
    expect(good.bets.size).toBe(0);
  });

  it('gives the same warnings as without probing', async () => {
    const folder = folderOf({ alpha: good.baseUrl });
    put(folder, 'gateway.yaml', GATEWAY.replace(SERVICE_SECRET, 'the-secret-of-old'));
    const { stderr } = await wagergate(['config', 'check', '--folder', folder]);
    expect(stderr).toMatch(/^warning: gateway\.yaml: .*\n$/);
    expect(await probe(folder)).toMatchObject({ code: 0, stderr });
    const { warnings } = JSON.parse((await probe(folder, '--json')).stdout);
    expect(warnings).toMatchObject([{ file: 'gateway.yaml' }]);
    // With one operator, only its own wallet.
    expect(await probe(folder, '--operator', 'alpha')).toMatchObject({ code: 0, stderr: '' });
  });

  it('probes the others if one file is invalid, and fails nevertheless', async () => {
    const folder = folderOf({ alpha: good.baseUrl, beta: 'http://127.0.0.1:1' });
    put(folder, 'operators/beta.yaml', operatorYaml('beta', 'status: odd'));
    const all = await probe(folder);
    expect(all.code).toBe(1);
    expect(all.stdout).toMatch(/ is not valid\n\n[\s\S]*\nalpha +ok /);
    expect(all.stderr).toMatch(/^operators\/beta\.yaml: status: .*\nerror: 1 problem in /);
    const json = await probe(folder, '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({
      ok: false,
      wallets: [{ operator: 'alpha', result: 'ok' }],
      problems: [{ file: 'operators/beta.yaml' }],
    });
    const one = await probe(folder, '--operator', 'alpha', '--json');
    expect([one.code, JSON.parse(one.stdout).ok]).toEqual([0, true]);
    const broken = await probe(folder, '--operator', 'beta');
    expect(broken.code).toBe(1);
    expect(broken.stderr).toMatch(/operators\/beta\.yaml: status: must be one of/);
  });

  it('asks one operator where one is named, and refuses an unknown one', async () => {
    const folder = folderOf({ alpha: good.baseUrl, beta: 'http://127.0.0.1:1' });
    expect((await probe(folder, '--operator', 'alpha')).code).toBe(0);
    const slip = await probe(folder, '--operator', 'alhpa');
    expect([slip.code, slip.stderr]).toEqual([
      2,
      expect.stringMatching(/^error: no operator alhpa/),
    ]);
    const without = await wagergate(['config', 'check', '--operator', 'alpha']);
    expect(without.code).toBe(2);
  });

  it('never tells the secret that a wallet quotes (I8)', async () => {
    const message = `we share ${walletSecret('alpha')}, which gives eyJhbGciOiJIUzI1NiJ9..${'A'.repeat(43)}`;
    const { detail } = await probedOdd({ status: 400, body: { code: 1, message } });
    expect(detail).toContain('we share ***, which gives ***');
  });

  it.each<[string, OwnAnswer, RegExp]>([
    ['refuses the signature', { status: 400, body: { code: 1, message: 'x' } }, /wallet\.secrets/],
    [
      'knows everybody',
      { status: 200, body: { userId: 'x', currency: 'EUR', amount: 5 } },
      /not exist/,
    ],
    ['is a page', { status: 404, body: '<html>' }, /HTTP status 404.*path/],
    [
      'has another secret, and says so by its status',
      { status: 401, body: { code: 1, message: 'Invalid signature' } },
      /HTTP status 401.*[Cc]ompare wallet\.secrets/,
    ],
    ['lets nobody in', { status: 403, body: '<html>' }, /HTTP status 403.*our address/],
    ['redirects', { status: 302, headers: { location: '/x' } }, /HTTP status 302/],
    ['refuses without a code', { status: 400, body: {} }, /no integer code/],
    [
      'does not look at the signature',
      { status: 400, body: { code: 3, message: 'no such player' } },
      /no such player; but it answers a WRONG signature in the same way/,
    ],
  ])('a wallet that %s is odd', async (_, answer, detail) => {
    expect(await probedOdd(answer)).toEqual({
      code: 1,
      result: 'odd',
      detail: expect.stringMatching(detail),
    });
  });

  it('a wallet that breaks the connection is unreachable', async () => {
    expect(await probedOdd('drop')).toMatchObject({ code: 1, result: 'unreachable' });
  });

  it('reports a name that does not resolve, and an untrusted certificate', async () => {
    const tls = createTlsServer(SELF_SIGNED, (_request, response) => response.end('{}'));
    await new Promise<void>((resolve) => tls.listen(0, '127.0.0.1', resolve));
    const address = tls.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const folder = folderOf({
      dns: 'https://wallet.invalid/api',
      tls: `https://localhost:${port}`,
    });
    const { stdout } = await probe(folder, '--json');
    await new Promise((resolve) => tls.close(resolve));
    const [dns, selfSigned] = JSON.parse(stdout).wallets;
    expect(dns).toMatchObject({ operator: 'dns', result: 'unreachable' });
    expect(dns.detail).toMatch(/check wallet\.baseUrl and the network$/);
    expect(selfSigned).toMatchObject({ operator: 'tls', result: 'unreachable' });
    // The network is well: somebody would look there in vain at night.
    expect(selfSigned.detail).toMatch(
      /^no connection \(TLS: its certificate is self-signed .*\): the operator has to put .* right/,
    );
  });
});
