import { describe, expect, it } from 'vitest';
import { operatorYaml } from './folder.ts';
import { sourceOn, three } from './source-on.ts';

/** What was warned of, as message, file and path. */
const warned = (log: ReturnType<typeof sourceOn>['log']) =>
  log.filter(({ level }) => level === 'warn').map(({ message, facts }) => ({ message, ...facts }));

describe('a dialect that may have been meant otherwise', () => {
  const dialect = (items: string) => operatorYaml('alpha', '', `  dialect: ${items}`);

  it('is warned of once, where mapCodes has a code that a status stands for', async () => {
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
