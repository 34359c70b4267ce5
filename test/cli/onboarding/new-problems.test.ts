import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  folderWith,
  GATEWAY,
  operatorYaml,
  put,
  walletSecret,
} from '../../config/support/folder.ts';
import { wagergate } from '../support/command-line.ts';

const FLAGS = [
  '--name',
  'Gamma',
  '--wallet-url',
  'https://wallet.gamma.example',
  '--currencies',
  'EUR',
];

const create = (folder: string, args: readonly string[]) =>
  wagergate(['operator', 'new', ...args, '--folder', folder]);

describe('wagergate operator new', () => {
  it('writes nothing that another operator’s file claims already', async () => {
    const folder = folderWith({ 'gateway.yaml': GATEWAY });
    // Set only where the gateway runs.
    const claiming = operatorYaml('alpha').replace(walletSecret('alpha'), `\${GAMMA_API_SECRET}`);
    put(folder, 'operators/alpha.yaml', claiming);
    const { code, stderr } = await create(folder, ['gamma', ...FLAGS]);
    const why =
      'nothing was written: operators/gamma.yaml: api.secrets[0]: is a secret of operators/alpha.yaml too';
    expect([code, stderr]).toEqual([1, expect.stringContaining(why)]);
    expect(readdirSync(join(folder, 'operators'))).toEqual(['alpha.yaml']);
  });

  it('writes nothing where the gateway would not take the secrets from', async () => {
    const folder = folderWith({ 'gateway.yaml': GATEWAY });
    const dir = mkdtempSync(join(tmpdir(), 'secrets-'));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    const before = readdirSync(folder);
    const { code, stderr } = await create(folder, ['gamma', ...FLAGS, '--secrets-dir', dir]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/nothing was written: .*SECRET_FOLDERS/),
    ]);
    expect([readdirSync(dir), readdirSync(folder)]).toEqual([[], before]);
    expect(readdirSync(join(folder, 'operators'))).toEqual([]);
  });
});
