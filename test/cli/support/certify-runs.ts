import { join } from 'node:path';
import type { SimulatedWallet } from '../../../tools/simulator/wallet/wallet.ts';
import { PLAYER, SECRET } from '../../certify/support/certification.ts';
import { folderWith, GATEWAY, operatorYaml, walletSecret } from '../../config/support/folder.ts';
import { type Ran, wagergate } from './command-line.ts';

export const WHO = ['--operator', 'alpha', '--user', PLAYER.userId, '--token', PLAYER.token];

/** A configuration folder with one operator for this wallet; the certificate goes there as well. */
export function folderFor({ baseUrl }: SimulatedWallet, dialect = '{}'): string {
  const wallet = `  allowPrivate: true\n  dialect: ${dialect}`;
  const file = operatorYaml('alpha', '', wallet)
    .replace(/baseUrl: .*/, `baseUrl: ${baseUrl}`)
    .replace(`[${walletSecret('alpha')}]`, `[${SECRET}, the-next-secret-of-the-wallet]`)
    .replace('[EUR]', '[USD, EUR]');
  return folderWith({ 'gateway.yaml': GATEWAY, 'operators/alpha.yaml': file });
}

export function certify(folder: string, ...args: readonly string[]): Promise<Ran> {
  return wagergate(['certify', ...WHO, '--folder', folder, '--out', join(folder, 'out'), ...args]);
}
