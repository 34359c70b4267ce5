import {
  appendFileSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ConfigFolder } from '../../src/config/folder/config-folder.ts';
import type { Configuration } from '../../src/config/schema/schema.ts';
import { ConfigurationSource, type ReloadResult } from '../../src/config/source.ts';
import { folderWith, GATEWAY, operatorYaml, put, walletSecret } from './support/folder.ts';

const two = () => ({
  'gateway.yaml': GATEWAY,
  'operators/alpha.yaml': operatorYaml('alpha'),
  'operators/beta.yaml': operatorYaml('beta'),
});

it('is looked at one file a step, so that callbacks get their turn (I7)', () => {
  const files = new ConfigFolder(folderWith(two()), {});
  for (const _ of files.read());
  // The gateway's file, the operators' folder, and their files.
  expect([...files.changes()]).toHaveLength(4);
});

function sourceOn(folder: string, watchIntervalMs = 15) {
  const reload = Promise.withResolvers<ReloadResult>();
  const change = Promise.withResolvers<Configuration>();
  const source = new ConfigurationSource({
    folder,
    env: {},
    logger: { info: () => undefined, warn: () => undefined, error: () => undefined },
    onReload: reload.resolve,
    watchIntervalMs,
  });
  source.onChange(change.resolve);
  onTestFinished(() => source.close());
  return { source, firstReload: reload.promise, firstChange: change.promise };
}

/** Watches a folder, changes it, and returns the first configuration that comes into force. */
function watched(folder: string, makeChange: () => void): Promise<Configuration> {
  const { source, firstChange } = sourceOn(folder);
  source.watch();
  makeChange();
  return firstChange;
}

const statusOf = (configuration: Configuration, id: string) =>
  configuration.operators.get(id)?.status;

const suspended = (id: string) => operatorYaml(id, 'status: suspended');

/** Lays files out as the kubelet mounts a ConfigMap; each call swaps all of them at once. */
function mountConfigMap(folder: string, version: string, files: Readonly<Record<string, string>>) {
  const data = join(folder, `..${version}`);
  mkdirSync(data);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(data, name), text);
  symlinkSync(`..${version}`, join(folder, '..data_tmp'));
  renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
  for (const name of Object.keys(files)) {
    if (!existsSync(join(folder, name))) symlinkSync(`..data/${name}`, join(folder, name));
  }
}

describe('watching the folder', () => {
  it('takes a file written in place', async () => {
    const folder = folderWith(two());
    const next = await watched(folder, () =>
      put(folder, 'operators/alpha.yaml', suspended('alpha')),
    );
    expect(statusOf(next, 'alpha')).toBe('suspended');
  });

  it('takes a file of the same size', async () => {
    const folder = folderWith(two());
    const next = await watched(folder, () =>
      put(folder, 'operators/alpha.yaml', operatorYaml('alpha').replace('EUR', 'USD')),
    );
    expect(next.operators.get('alpha')?.currencies).toEqual(['USD']);
  });

  it('takes added and removed files', async () => {
    const folder = folderWith(two());
    const next = await watched(folder, () => {
      put(folder, 'operators/gamma.yml', operatorYaml('gamma'));
      rmSync(join(folder, 'operators/beta.yaml'));
    });
    expect([...next.operators.keys()]).toEqual(['alpha', 'gamma']);
  });

  it("takes a ConfigMap's symlink swap", async () => {
    const folder = folderWith({ 'gateway.yaml': GATEWAY });
    const operators = join(folder, 'operators');
    mountConfigMap(operators, '2024_01', { 'alpha.yaml': operatorYaml('alpha') });
    const { source, firstChange } = sourceOn(folder);
    source.watch();
    const files = { 'alpha.yaml': suspended('alpha'), 'beta.yaml': operatorYaml('beta') };
    mountConfigMap(operators, '2024_02', files);
    rmSync(join(operators, '..2024_01'), { recursive: true });
    const next = await firstChange;
    expect(statusOf(next, 'alpha')).toBe('suspended');
    expect(next.operators.has('beta')).toBe(true);
  });

  it('takes the folder itself being another one behind a symlink', async () => {
    const parent = folderWith({});
    for (const release of ['one', 'two']) put(parent, `${release}/gateway.yaml`, GATEWAY);
    put(parent, 'one/operators/alpha.yaml', operatorYaml('alpha'));
    put(parent, 'two/operators/alpha.yaml', suspended('alpha'));
    symlinkSync('one', join(parent, 'current'));
    const next = await watched(join(parent, 'current'), () => {
      symlinkSync('two', join(parent, 'next'));
      renameSync(join(parent, 'next'), join(parent, 'current'));
    });
    expect(statusOf(next, 'alpha')).toBe('suspended');
  });

  it('takes the rotation of a secret that a file names', async () => {
    const folder = folderWith({ ...two(), 'secrets/wallet': 'one-with-16-letters' });
    const path = join(folder, 'secrets/wallet');
    put(
      folder,
      'operators/alpha.yaml',
      operatorYaml('alpha').replace(walletSecret('alpha'), `\${file:${path}}`),
    );
    const next = await watched(folder, () => put(folder, 'secrets/wallet', 'two-with-16-letters'));
    expect(next.operators.get('alpha')?.wallet.secrets).toEqual(['two-with-16-letters']);
  });

  it('takes a change made after loading but before watching', async () => {
    const folder = folderWith(two());
    const { source, firstChange } = sourceOn(folder);
    put(folder, 'operators/alpha.yaml', suspended('alpha'));
    source.watch();
    expect(statusOf(await firstChange, 'alpha')).toBe('suspended');
  });

  it('leaves the last good version in force under an invalid file until it is mended', async () => {
    const folder = folderWith(two());
    const { source, firstReload, firstChange } = sourceOn(folder);
    source.watch();
    put(folder, 'operators/alpha.yaml', operatorYaml('alpha', 'status: odd'));
    expect((await firstReload).result).toBe('invalid');
    expect(statusOf(source.current, 'alpha')).toBe('active');
    put(folder, 'operators/alpha.yaml', suspended('alpha'));
    expect(statusOf(await firstChange, 'alpha')).toBe('suspended');
  });

  it('has a change in force within 2 s at its own pace', async () => {
    const folder = folderWith(two());
    const source = new ConfigurationSource({
      folder,
      env: {},
      logger: { info: () => undefined, warn: () => undefined, error: () => undefined },
    });
    onTestFinished(() => source.close());
    const change = new Promise<Configuration>((resolve) => source.onChange(resolve));
    source.watch();
    appendFileSync(join(folder, 'operators/alpha.yaml'), 'status: suspended\n');
    expect(statusOf(await change, 'alpha')).toBe('suspended');
  });
});
