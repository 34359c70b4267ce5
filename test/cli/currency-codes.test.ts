import { describe, expect, it } from 'vitest';
import { loadConfiguration } from '../../src/config/loader.ts';
import { PLAYER, SECRET, sandbox } from '../certify/support/certification.ts';
import { folderWith, GATEWAY, operatorYaml, walletSecret } from '../config/support/folder.ts';
import { certify } from './support/certify-runs.ts';
import { wagergate } from './support/command-line.ts';

describe('the code of a currency on the command line', () => {
  it.each([
    ['mBTC,EUR', ['mBTC', 'EUR']],
    // Small letters throughout are typed in haste.
    ['eur,usdt,Usd', ['EUR', 'USDT', 'Usd']],
  ])('is written to a new operator’s file as it stands: %s', async (codes, written) => {
    const folder = folderWith({ 'gateway.yaml': GATEWAY });
    const { code, stdout } = await wagergate([
      ...['operator', 'new', 'gamma', '--folder', folder, '--json', '--name', 'Gamma'],
      ...['--wallet-url', 'https://wallet.gamma.example', '--currencies', codes],
    ]);
    expect(code).toBe(0);
    const { environment } = JSON.parse(stdout);
    const gamma = loadConfiguration(folder, environment).operators.get('gamma');
    expect(gamma?.currencies).toEqual(written);
  });

  it.each([
    ['mBTC', [], 'mBTC'],
    ['mBTC', ['--currency', 'mBTC'], 'mBTC'],
    // The operator's own code, though it looks like another one's.
    ['usd', [], 'usd'],
    ['usd', ['--currency', 'usd'], 'usd'],
    ['USD', ['--currency', 'usd'], 'USD'],
  ])('of an operator with %s reaches its wallet as it stands: %j', async (own, args, sent) => {
    const wallet = await sandbox(
      {},
      { balances: { [own]: '1000' }, tokens: { [PLAYER.token]: own } },
    );
    const file = operatorYaml('alpha', '', '  allowPrivate: true')
      .replace(/baseUrl: .*/, `baseUrl: ${wallet.baseUrl}`)
      .replace(walletSecret('alpha'), SECRET)
      .replace('[EUR]', `[${own}]`);
    const folder = folderWith({ 'gateway.yaml': GATEWAY, 'operators/alpha.yaml': file });
    const only = ['--only', 'profile', 'balance', '--json'];
    const { code, stdout, stderr } = await certify(folder, ...only, ...args);
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('error')]);
    expect(JSON.parse(stdout).player.currency).toBe(sent);
  });
});
