import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { run } from '../../../src/cli/run.ts';
import { Terminal } from '../../../src/cli/terminal.ts';
import { loadConfiguration } from '../../../src/config/loader.ts';
import {
  folderWith,
  GATEWAY,
  operatorYaml,
  put,
  walletSecret,
} from '../../config/support/folder.ts';
import { type Around, wagergate } from '../support/command-line.ts';

const FLAGS = [
  ...['--name', 'Gamma: the "Casino"'],
  ...['--wallet-url', 'https://wallet.gamma.example/api'],
  ...['--currencies', 'EUR, USD'],
];

const emptyFolder = () => folderWith({ 'gateway.yaml': GATEWAY });

const create = (folder: string, args: readonly string[], around: Around = {}) =>
  wagergate(['operator', 'new', ...args, '--folder', folder], around);

/** A folder of its own for secrets. */
function secretsFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'secrets-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'inner');
}

describe('wagergate operator new', () => {
  it('writes a file that the gateway takes with the variables it printed', async () => {
    const folder = emptyFolder();
    const { code, stdout, stderr } = await create(folder, ['gamma-2', ...FLAGS]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const env = Object.fromEntries(
      [...stdout.matchAll(/^ {2}(GAMMA_2_\w+)=(\S+)$/gm)].map(([, name, value]) => [name, value]),
    );
    expect(Object.keys(env)).toEqual(['GAMMA_2_WALLET_SECRET', 'GAMMA_2_API_SECRET']);
    const gamma = loadConfiguration(folder, env).operators.get('gamma-2');
    expect(gamma).toMatchObject({
      name: 'Gamma: the "Casino"',
      status: 'active',
      wallet: {
        baseUrl: 'https://wallet.gamma.example/api',
        allowPrivate: false,
        secrets: [env.GAMMA_2_WALLET_SECRET],
      },
      api: { cid: 'gamma-2-key', secrets: [env.GAMMA_2_API_SECRET] },
      sessions: { mode: 'issued' },
      currencies: ['EUR', 'USD'],
    });
    for (const secret of Object.values(env)) expect(secret).toMatch(/^[\w-]{43}$/);
    // Prints what the operator needs: both secrets, its key, and its guide.
    for (const told of [...Object.values(env), 'gamma-2-key', 'docs/for-operators.md']) {
      expect(stdout.split('Send to the operator')[1]).toContain(told);
    }
  });

  it('writes secrets into files of their own, which only their owner can read', async () => {
    const folder = emptyFolder();
    const dir = secretsFolder();
    const env = { SECRET_FOLDERS: dir };
    const args = ['gamma', ...FLAGS, '--secrets-dir', dir];
    const { code, stdout, stderr } = await create(folder, args, { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const secrets = ['wallet', 'api'].map((which) => {
      const path = join(dir, `gamma-${which}-secret`);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      return readFileSync(path, 'utf8').trim();
    });
    const gamma = loadConfiguration(folder, env).operators.get('gamma');
    expect([gamma?.wallet.secrets, gamma?.api.secrets]).toEqual(secrets.map((one) => [one]));
    for (const secret of secrets) expect(stdout).not.toContain(secret);
  });

  it('never names a variable that is the gateway’s own', async () => {
    const { stdout } = await create(emptyFolder(), ['oidc', ...FLAGS, '--json']);
    expect(Object.keys(JSON.parse(stdout).environment)).toEqual([
      'OPERATOR_OIDC_WALLET_SECRET',
      'OPERATOR_OIDC_API_SECRET',
    ]);
  });

  it.each([
    ['Gamma Casino', 'did you mean gamma-casino\\?'],
    ['gämma_1', 'did you mean gamma-1\\?'],
    ['x', 'is no operator id'],
    ['../gamma', 'did you mean gamma\\?'],
  ])('refuses the id %j and suggests another', async (id, advice) => {
    const folder = emptyFolder();
    const { code, stderr } = await create(folder, [id, ...FLAGS]);
    expect(code).toBe(2);
    expect(stderr).toMatch(new RegExp(`^error: .*${advice}`));
    expect(readdirSync(join(folder, 'operators'))).toEqual([]);
  });

  it.each([
    [['--wallet-url', 'http://wallet.example'], /wallet\.baseUrl: .*https/],
    [['--wallet-url', 'https://10.0.0.1'], /wallet\.baseUrl: .*private/],
    [['--currencies', 'E'], /currencies\[0\]/],
    [['--currencies', 'EUR,EUR'], /currencies: has an entry twice/],
    [['--name', ' '], /name: must not be empty/],
  ])('refuses %j as the gateway would', async (args, why) => {
    const folder = emptyFolder();
    const { code, stderr } = await create(folder, ['gamma', ...FLAGS, ...args]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(why)]);
    expect(existsSync(join(folder, 'operators/gamma.yaml'))).toBe(false);
  });

  it('takes a private wallet where that is said', async () => {
    const folder = emptyFolder();
    const args = ['--wallet-url', 'http://127.0.0.1:9', '--allow-private'];
    const { code } = await create(folder, ['gamma', ...FLAGS, ...args]);
    expect(code).toBe(0);
  });

  it('overwrites nothing, and takes no other operator’s key', async () => {
    const folder = emptyFolder();
    put(folder, 'operators/gamma.yaml', 'not even yaml: [');
    const there = await create(folder, ['gamma', ...FLAGS]);
    expect([there.code, there.stderr]).toEqual([1, expect.stringMatching(/already exists/)]);
    expect(readFileSync(join(folder, 'operators/gamma.yaml'), 'utf8')).toBe('not even yaml: [');

    put(
      folder,
      'operators/alpha.yaml',
      operatorYaml('alpha').replace(walletSecret('alpha'), `\${NOT_SET}`),
    );
    const key = await create(folder, ['delta', ...FLAGS, '--cid', 'alpha-key']);
    expect([key.code, key.stderr]).toEqual([
      1,
      expect.stringMatching(/alpha-key is the api\.cid of operators\/alpha\.yaml/),
    ]);

    const nowhere = await create(folder, ['delta', ...FLAGS, '--secrets-dir', '/proc/nowhere/x']);
    expect([nowhere.code, nowhere.stderr]).toEqual([
      1,
      expect.stringMatching(/^error: nothing was written: /),
    ]);

    const dir = secretsFolder();
    await create(folder, ['delta', ...FLAGS, '--secrets-dir', dir], {
      env: { SECRET_FOLDERS: dir },
    });
    rmSync(join(folder, 'operators/delta.yaml'));
    const before = readFileSync(join(dir, 'delta-api-secret'), 'utf8');
    const again = await create(folder, ['delta', ...FLAGS, '--secrets-dir', dir]);
    expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(/nothing was written/)]);
    expect(readFileSync(join(dir, 'delta-api-secret'), 'utf8')).toBe(before);
    expect(existsSync(join(folder, 'operators/delta.yaml'))).toBe(false);
  });

  it('asks a person for what no option says, again where the answer will not do', async () => {
    const folder = emptyFolder();
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const terminal = new Terminal({ env: {}, stdin, stdout, stderr });
    const answers = [
      '',
      'wallet',
      'http://10.0.0.1',
      'https://wallet.gamma.example',
      '',
      'e',
      'eur',
    ];
    stdin.end(`${answers.join('\n')}\n`);
    const args = ['operator', 'new', 'gamma', '--folder', folder, '--json'];
    expect(await run(args, terminal)).toBe(0);
    const { environment } = JSON.parse(String(stdout.read()));
    const gamma = loadConfiguration(folder, environment).operators.get('gamma');
    expect(gamma).toMatchObject({
      name: 'gamma',
      wallet: { baseUrl: 'https://wallet.gamma.example' },
      currencies: ['EUR'],
    });
    expect(String(stderr.read())).toMatch(
      /It must be .*It .*plain http.*There must be one at least.*It must have 3 to 5/s,
    );
  });
});
