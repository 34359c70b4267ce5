import { describe, expect, it } from 'vitest';
import { GATEWAY, operatorYaml } from './support/folder.ts';
import { sourceOn, three } from './support/source-on.ts';

/** The warnings, as message, file and path. */
const warned = (log: ReturnType<typeof sourceOn>['log']) =>
  log.filter(({ level }) => level === 'warn').map(({ message, facts }) => ({ message, ...facts }));

describe('a dialect that may have been meant otherwise', () => {
  const dialect = (items: string) => operatorYaml('alpha', '', `  dialect: ${items}`);

  it('causes one warning if mapCodes has a code that a status already maps to', async () => {
    const both =
      '{ errorStatuses: { 401: 3, 409: 9, 404: body }, mapCodes: { place: { 9: 8 }, settle: { 9: 20, 2: 3 } } }';
    const { source, put, log } = sourceOn({ ...three(), 'operators/alpha.yaml': dialect(both) });
    expect(warned(log)).toEqual([
      {
        message: 'config.doubtful_dialect',
        file: 'operators/alpha.yaml',
        path: 'wallet.dialect.errorStatuses.409',
        reason:
          "stands for the protocol's code 9: mapCodes.place.9, mapCodes.settle.9 maps codes of bodies, and is not asked. Write the code that is meant",
      },
    ]);
    put('operators/beta.yaml', operatorYaml('beta', 'status: suspended'));
    await source.reload();
    expect(warned(log)).toHaveLength(1);
  });

  it('is not warned of where mapCodes leaves the code as it is, or has others', () => {
    const fine = '{ errorStatuses: { 409: 9 }, mapCodes: { place: { 9: 9, 409: 8 } } }';
    const { log } = sourceOn({ ...three(), 'operators/alpha.yaml': dialect(fine) });
    expect(warned(log)).toEqual([]);
  });
});

describe('a setting that was hardly meant', () => {
  const withTimeout = (ms: number) => operatorYaml('alpha', '', `  timeoutMs: ${ms}`);

  it('is warned of: seconds for milliseconds, and a currency in small letters', () => {
    const file = withTimeout(4).replace('[EUR]', '[EUR, usd]');
    const { log } = sourceOn({ ...three(), 'operators/alpha.yaml': file });
    const common = { message: 'config.doubtful_setting', file: 'operators/alpha.yaml' };
    expect(warned(log)).toEqual([
      {
        ...common,
        path: 'wallet.timeoutMs',
        reason:
          'gives the wallet 4 ms, after which a bet that it may have debited is rolled back: it is in milliseconds',
      },
      {
        ...common,
        path: 'currencies[1]',
        reason: 'is another currency than USD: codes are compared exactly',
      },
    ]);
  });

  it('is not warned of from 50 ms on, nor of codes that are no ISO 4217', () => {
    const file = withTimeout(50).replace('[EUR]', '[EUR, mBTC]');
    const { log } = sourceOn({ ...three(), 'operators/alpha.yaml': file });
    expect(warned(log)).toEqual([]);
  });
});

describe('a file that is passed over', () => {
  const reason =
    "is not read: an operator's file is named as its id, with .yaml or .yml behind it, such as gamma.yaml";
  const passed = (name: string) => ({
    ...{ message: 'config.file_passed_over', file: `operators/${name}`, path: '', reason },
  });

  it('is warned of at the start and when it comes, once each', async () => {
    const files = {
      ...three(),
      'operators/delta.json': '{}',
      'operators/epsilon/epsilon.yaml': '',
    };
    const { source, put, remove, log } = sourceOn(files);
    expect(warned(log)).toEqual([passed('delta.json'), passed('epsilon')]);
    put('operators/zeta.yaml.bak', operatorYaml('zeta'));
    put('operators/zeta.yml~', operatorYaml('zeta'));
    await source.reload();
    await source.reload();
    expect(warned(log).slice(2)).toEqual([passed('zeta.yaml.bak'), passed('zeta.yml~')]);
    // Somebody tries again with the same name.
    remove('operators/delta.json');
    await source.reload();
    put('operators/delta.json', '{}');
    await source.reload();
    expect(warned(log).slice(4)).toEqual([passed('delta.json')]);
  });

  it('is reported within two seconds by a gateway that watches', async () => {
    const { source, put, log } = sourceOn(three());
    source.watch();
    put('operators/delta.json', '{}');
    await expect.poll(() => warned(log), { timeout: 5_000 }).toEqual([passed('delta.json')]);
    expect(source.current.operators.size).toBe(3);
  });

  it('is nobody’s operator where its name says so: dotfiles, links of a ConfigMap, notes, what a disk brings along', () => {
    const { log } = sourceOn({
      ...three(),
      'operators/.alpha.yaml.swp': '',
      'operators/..data/alpha.yaml': '',
      'operators/..2026_11_23/alpha.yaml': '',
      'operators/README': '',
      'operators/README.md': '',
      'operators/readme.txt': '',
      'operators/lost+found/x': '',
    });
    expect(warned(log)).toEqual([]);
  });

  it('is also reported beside gateway.yaml: its own under another name, and operators’ files', async () => {
    const { source, put, remove, log } = sourceOn({
      ...three(),
      'gateway.yml': GATEWAY,
      'delta.yaml': operatorYaml('delta'),
      // Other files that may be there for any purpose.
      ...{ 'compose.yaml': 'services: {}\n', 'gateway.yaml.bak': '', 'notes.yaml': 'id: a\n' },
      ...{ '.delta.yaml': operatorYaml('delta'), 'gateway.schema.json': '{}' },
    });
    expect(warned(log)).toEqual([
      {
        ...passed(''),
        file: 'delta.yaml',
        reason: expect.stringMatching(/in the folder operators/),
      },
      {
        ...passed(''),
        file: 'gateway.yml',
        reason: expect.stringMatching(/from gateway.yaml alone/),
      },
    ]);
    remove('gateway.yml');
    source.watch();
    put('epsilon.yml', operatorYaml('epsilon'));
    await expect
      .poll(() => warned(log).at(-1), { timeout: 5_000 })
      .toMatchObject({
        file: 'epsilon.yml',
      });
  });

  it('is named by a start that finds no gateway.yaml', () => {
    expect(() => sourceOn({ 'gateway.yml': GATEWAY, 'operators/a/b': '' })).toThrow(
      /^gateway\.yaml: the file \S+ does not exist\ngateway\.yml: is not read: .*rename it/,
    );
  });

  it('is logged for a hundred of them, and the others as a number', () => {
    const many = Array.from({ length: 130 }, (_, at) => [`operators/o${at}.json`, '{}']);
    const { log } = sourceOn({ ...three(), ...Object.fromEntries(many) });
    expect(warned(log)).toHaveLength(101);
    expect(warned(log).at(-1)).toEqual({ message: 'config.more_files_passed_over', files: 30 });
  });
});
