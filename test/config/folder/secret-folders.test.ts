import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { secretFolders } from '../../../src/config/folder/secret-folders.ts';
import { loadConfiguration } from '../../../src/config/loader.ts';
import { ConfigurationSource } from '../../../src/config/source.ts';
import { folderWith, GATEWAY, operatorYaml, put, walletSecret } from '../support/folder.ts';

const VALUE = 'a-secret-of-alphas-wallet';

/** A file in which `alpha` takes its wallet's secret from this path. */
function alphaFrom(path: string): string {
  return operatorYaml('alpha').replace(walletSecret('alpha'), `\${file:${path}}`);
}

/** The refusal if `alpha` names this file; empty if it is accepted. */
function refusal(folder: string, path: string, env: NodeJS.ProcessEnv = {}): string {
  put(folder, 'operators/alpha.yaml', alphaFrom(path));
  try {
    loadConfiguration(folder, env);
    return '';
  } catch (error) {
    return String(error);
  }
}

const ELSEWHERE = /is in none of the folders that secrets are taken from \(.*SECRET_FOLDERS/;

describe('${file:…} of an operator', () => {
  it('takes what is below the configuration folder, and below SECRET_FOLDERS', () => {
    const folder = folderWith({ 'gateway.yaml': GATEWAY, 'secrets/wallet': VALUE });
    const outside = folderWith({ 'deep/down/wallet': VALUE });
    expect(refusal(folder, join(folder, 'secrets/wallet'))).toBe('');
    expect(refusal(folder, join(outside, 'deep/down/wallet'))).toMatch(ELSEWHERE);
    const env = { SECRET_FOLDERS: `/run/secrets:${outside}` };
    expect(refusal(folder, join(outside, 'deep/down/wallet'), env)).toBe('');
  });

  it.each([
    '/proc/self/environ',
    '/proc/thread-self/environ',
    '/etc/passwd',
    '/etc/hostname',
    '/dev/stdin',
    '/run/secrets/../../etc/passwd',
    '/run/secretsx/wallet',
    '/run/secrets',
  ])('does not reach %s, and does not say whether it is there', (path) => {
    expect(refusal(folderWith({ 'gateway.yaml': GATEWAY }), path)).toMatch(ELSEWHERE);
  });

  it('is not led out by .. or by a link, to a file or to a folder', () => {
    const outside = folderWith({ wallet: VALUE });
    const folder = folderWith({ 'gateway.yaml': GATEWAY, 'secrets/wallet': VALUE });
    symlinkSync(join(outside, 'wallet'), join(folder, 'secrets/to-file'));
    symlinkSync(outside, join(folder, 'secrets/to-folder'));
    for (const way of ['to-file', 'to-folder/wallet']) {
      expect(refusal(folder, join(folder, 'secrets', way))).toMatch(ELSEWHERE);
    }
    expect(refusal(folder, `${folder}/secrets/../../${outside.split('/').at(-1)}/wallet`)).toMatch(
      ELSEWHERE,
    );
  });

  it('does not read the configuration’s own files, which hold others’ secrets', () => {
    const folder = folderWith({
      'gateway.yaml': GATEWAY,
      'operators/beta.yaml': operatorYaml('beta'),
      'operators/gamma.YML': operatorYaml('gamma'),
      'secrets/wallet': VALUE,
    });
    symlinkSync('../operators/beta.yaml', join(folder, 'secrets/link'));
    const names = ['operators/beta.yaml', 'operators/gamma.YML', 'gateway.yaml', 'secrets/link'];
    for (const name of names) {
      const said = refusal(folder, join(folder, name));
      expect(said).toMatch(/is a file of the configuration itself/);
      expect(said).not.toContain(walletSecret('beta'));
    }
  });

  it('does not read the pod’s own credentials, which lie among the secrets', () => {
    const secrets = folderWith({ 'kubernetes.io/serviceaccount/token': VALUE });
    symlinkSync('kubernetes.io/serviceaccount/token', join(secrets, 'link'));
    const folder = folderWith({ 'gateway.yaml': GATEWAY });
    for (const name of ['kubernetes.io/serviceaccount/token', 'link']) {
      expect(refusal(folder, join(secrets, name), { SECRET_FOLDERS: secrets })).toMatch(
        /is the pod's own credential/,
      );
    }
  });

  it('follows the links of a mounted Secret, even when they are exchanged', async () => {
    const mount = folderWith({});
    const folder = folderWith({ 'gateway.yaml': GATEWAY });
    const mountSecret = (version: string, value: string) => {
      put(mount, `..${version}/wallet`, value);
      symlinkSync(`..${version}`, join(mount, '..next'));
      renameSync(join(mount, '..next'), join(mount, '..data'));
    };
    mountSecret('one', VALUE);
    symlinkSync('..data/wallet', join(mount, 'wallet'));
    put(folder, 'operators/alpha.yaml', alphaFrom(join(mount, 'wallet')));
    const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const source = new ConfigurationSource({ folder, env: { SECRET_FOLDERS: mount }, logger });
    mountSecret('two', `${VALUE}-rotated`);
    rmSync(join(mount, '..one'), { recursive: true });
    expect((await source.reload()).problems).toEqual([]);
    const secrets = () => source.current.operators.get('alpha')?.wallet.secrets;
    expect(secrets()).toEqual([`${VALUE}-rotated`]);

    // It leads out of the folder while the gateway runs: the configuration in force stays.
    rmSync(join(mount, '..data'));
    symlinkSync(folderWith({ wallet: 'something-from-outside' }), join(mount, '..data'));
    expect((await source.reload()).problems).toMatchObject([{ file: 'operators/alpha.yaml' }]);
    expect(secrets()).toEqual([`${VALUE}-rotated`]);
  });

  it('goes with the configuration folder where that is a link to a release', () => {
    const parent = folderWith({ 'v2/gateway.yaml': GATEWAY, 'v2/secrets/wallet': VALUE });
    mkdirSync(join(parent, 'v2/operators'));
    symlinkSync('v2', join(parent, 'current'));
    expect(refusal(join(parent, 'current'), join(parent, 'current/secrets/wallet'))).toBe('');
  });

  it('binds operators alone: gateway.yaml is the aggregator’s own', () => {
    const outside = folderWith({ service: 'the-services-secret' });
    const path = join(outside, 'service');
    const gateway = GATEWAY.replace(/secrets: \[.*\]/, `secrets: [\${file:${path}}]`);
    const { service } = loadConfiguration(folderWith({ 'gateway.yaml': gateway }), {}).gateway;
    expect(service.secrets).toEqual(['the-services-secret']);
  });
});

describe('SECRET_FOLDERS', () => {
  it('is /run/secrets where it is left out', () => {
    expect(secretFolders({})).toEqual(['/run/secrets']);
    expect(secretFolders({ SECRET_FOLDERS: '' })).toEqual(['/run/secrets']);
  });

  it.each(['secrets', './secrets', '/', '/run/..', '/proc', '/proc/self', '/sys', '/dev/shm'])(
    'refuses %s, which would open more than secrets',
    (folder) => {
      expect(() => secretFolders({ SECRET_FOLDERS: `/run/secrets:${folder}` })).toThrow(
        /^SECRET_FOLDERS must be absolute folders/,
      );
    },
  );
});
