import { describe, expect, it } from 'vitest';
import { operatorYaml } from './support/folder.ts';
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
        message: 'config.doubtful_setting',
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
