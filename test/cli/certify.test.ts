import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { certificateText } from '../../src/cli/certificate-text.ts';
import type { SimulatedWallet } from '../../tools/simulator/wallet/wallet.ts';
import { certification, PLAYER, SECRET, sandbox } from '../certify/support/certification.ts';
import { debitsDuplicates, shiftsDuplicates } from '../certify/support/flawed-wallets.ts';
import { folderWith, GATEWAY, operatorYaml, put, walletSecret } from '../config/folder.ts';
import { type Ran, wagergate } from './command-line.ts';

const WHO = ['--operator', 'alpha', '--user', PLAYER.userId, '--token', PLAYER.token];

/** A configuration folder whose one operator has this wallet; the certificate goes there as well. */
function folderFor({ baseUrl }: SimulatedWallet, dialect = '{}'): string {
  const wallet = `  allowPrivate: true\n  dialect: ${dialect}`;
  const file = operatorYaml('alpha', '', wallet)
    .replace(/baseUrl: .*/, `baseUrl: ${baseUrl}`)
    .replace(walletSecret('alpha'), `${SECRET}, the-next-secret-of-alpha`)
    .replace('[EUR]', '[USD, EUR]');
  return folderWith({ 'gateway.yaml': GATEWAY, 'operators/alpha.yaml': file });
}

function certify(folder: string, ...args: readonly string[]): Promise<Ran> {
  return wagergate(['certify', ...WHO, '--folder', folder, '--out', join(folder, 'out'), ...args]);
}

describe('wagergate certify', () => {
  it('passes a good wallet: a table, two files, code 0', async () => {
    const folder = folderFor(await sandbox());
    const { code, stdout, stderr } = await certify(folder);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Signatures\nverdict +case +what +rule\n-+/);
    expect(stdout).toMatch(
      /✓ passed +place-enough +A place debits the stake +docs\/protocol\.md, /,
    );
    expect(stdout).toContain('Money: 1000 USD, as before');
    expect(stdout).toMatch(/Passed: \d+ of \d+ cases passed.*\n$/);
    expect(stdout).not.toContain('\u001b');
    expect(stderr).toMatch(/^1\/\d+ signature-good\n2\/\d+ /);
    const certificate = JSON.parse(readFileSync(join(folder, 'out/certificate.json'), 'utf8'));
    expect(certificate).toMatchObject({
      schemaVersion: 1,
      result: 'passed',
      operator: 'alpha',
      player: { userId: 'ann', currency: 'USD' },
      dialect: {},
    });
    const report = readFileSync(join(folder, 'out/certificate.html'), 'utf8');
    expect(report).toContain('Wallet of alpha');
  });

  it('fails a flawed one: what was seen, which dialect would help, code 1', async () => {
    const folder = folderFor(await sandbox(shiftsDuplicates(9)));
    const { code, stdout, stderr } = await certify(folder);
    expect(code).toBe(1);
    expect(stdout).toMatch(/✗ failed +place-duplicate-answer/);
    expect(stdout).toContain('a bet that stands was answered HTTP 400 with code 9');
    expect(stdout).toMatch(
      /wallet:\n {2}dialect:\n {4}# .*\n {4}mapCodes:\n {6}place:\n {8}"9": 8/,
    );
    expect(stderr).toMatch(/\nerror: 1 case failed: see the report\n$/);
  });

  it("applies the operator's dialect, and leaves it out under --strict", async () => {
    const wallet = await sandbox(shiftsDuplicates(9));
    const folder = folderFor(wallet, '{ mapCodes: { place: { 9: 8 } } }');
    const lenient = await certify(folder, '--json');
    expect(lenient.code).toBe(0);
    expect(JSON.parse(lenient.stdout)).toMatchObject({
      strict: false,
      dialect: { mapCodes: { place: { 9: 8 } } },
    });
    const strict = await certify(folder, '--json', '--strict');
    expect(strict.code).toBe(1);
    expect(JSON.parse(strict.stdout)).toMatchObject({ strict: true, dialect: {} });
  });

  it('keeps paths and headers under --strict: without them nothing is reached', async () => {
    const wallet = await sandbox({ paths: { profile: '/me', balance: '/money', bet: '/bets' } });
    const paths = 'paths: { profile: /me, balance: /money, bet: /bets }';
    const folder = folderFor(wallet, `{ ${paths}, emptyOk: true }`);
    const { code, stdout } = await certify(folder, '--json', '--strict', '--only', 'unsettle');
    expect(code).toBe(0);
    expect(JSON.parse(stdout).dialect).toEqual({
      paths: { profile: '/me', balance: '/money', bet: '/bets' },
    });
  });

  it('takes another address and some groups', async () => {
    const folder = folderWith({
      'gateway.yaml': GATEWAY,
      'operators/alpha.yaml': operatorYaml('alpha').replace(walletSecret('alpha'), SECRET),
    });
    const wallet = await sandbox();
    const args = ['--wallet', wallet.baseUrl, '--currency', 'USD'];
    const { code, stdout } = await certify(folder, ...args, '--only', 'profile', 'balance');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Profile\n/);
    expect(stdout).toMatch(/\nBalance\n/);
    expect(stdout).not.toMatch(/\nPlace\n/);
    expect(stdout).toContain('not every group was run');
  });

  it('goes on where another operator’s file is broken or lacks its secret', async () => {
    const folder = folderFor(await sandbox());
    put(folder, 'operators/beta.yaml', operatorYaml('beta', 'status: odd'));
    const lacking = operatorYaml('gamma').replace(walletSecret('gamma'), `\${NOT_SET}`);
    put(folder, 'operators/gamma.yaml', lacking);
    expect((await certify(folder, '--only', 'profile')).code).toBe(0);
    const own = await certify(folder, '--operator', 'gamma');
    expect(own.code).toBe(1);
    expect(own.stderr).toMatch(/^error: .* is not valid \(operators\/gamma\.yaml: .*NOT_SET/);
  });

  it('touches no wallet that is not marked as a sandbox: code 2, no files', async () => {
    const wallet = await sandbox({}, { isTest: false });
    const folder = folderFor(wallet);
    const { code, stdout, stderr } = await certify(folder);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error: not certified: .*isTest: true.*--i-know.*\n$/);
    expect(wallet.bets.size).toBe(0);
    expect(() => readFileSync(join(folder, 'out/certificate.json'))).toThrow('ENOENT');
    const known = await certify(folder, '--i-know', '--only', 'place');
    expect(known.code).toBe(0);
    expect(known.stderr).toMatch(/^warning: .*real money may move\n/);
  });

  it.each([
    [['--operator', 'beta'], 'no operator beta in .*: there is alpha'],
    [['--wallet', 'sandbox.example'], '--wallet is no address'],
    [['--other-user', 'bob'], 'give both --other-user and --other-token'],
    [['--only', 'plaice'], "'plaice' is invalid.*Did you mean place|'plaice' is invalid.*place"],
  ])('%j is not understood: code 2', async (args, why) => {
    const folder = folderFor(await sandbox());
    const { code, stdout, stderr } = await certify(folder, ...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^error: .*${why}.*\n$`));
  });

  it('says so when the files cannot be written', async () => {
    const folder = folderFor(await sandbox());
    const out = ['--out', join(folder, 'gateway.yaml')];
    const { code, stderr } = await certify(folder, '--only', 'profile', ...out);
    expect(code).toBe(1);
    expect(stderr).toMatch(/error: the certificate cannot be written: .*\n$/);
  });

  it('ends with 130 at Ctrl-C, and gives the stakes back first', async () => {
    const wallet = await sandbox();
    const folder = folderFor(wallet);
    const program = fileURLToPath(new URL('../../src/cli/wagergate.ts', import.meta.url));
    const gate = wallet.hold('settle');
    const args = [program, 'certify', ...WHO, '--folder', folder, '--out', join(folder, 'out')];
    const child = spawn(process.execPath, args, { env: { PATH: process.env.PATH } });
    const closed = once(child, 'close');
    const told: string[] = [];
    const stopping = new Promise<void>((resolve) => {
      child.stderr.on('data', (chunk: Buffer) => {
        told.push(chunk.toString('utf8'));
        if (told.join('').includes('stopping')) resolve();
      });
    });
    await gate.arrived;
    child.kill('SIGINT');
    await stopping;
    gate.release();
    await closed;
    expect(child.exitCode).toBe(130);
    expect(told.join('')).toMatch(/\ninterrupted\n$/);
    expect(wallet.balance('ann', 'USD')).toBe('1000');
    expect(() => readFileSync(join(folder, 'out/certificate.json'))).toThrow('ENOENT');
  });
});

describe('the table', () => {
  it('is coloured for terminals, beside words that say the same', async () => {
    const certificate = await certification(await sandbox(debitsDuplicates));
    const coloured = certificateText(certificate, true);
    expect(coloured).toContain('\u001b[31m✗ failed');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what it is about
    expect(coloured.replaceAll(/\u001b\[\d+m/g, '')).toBe(certificateText(certificate, false));
  });
});
