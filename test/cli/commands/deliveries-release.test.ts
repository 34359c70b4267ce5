import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { folderWith, GATEWAY, operatorYaml } from '../../config/support/folder.ts';
import { type OpenDatabase, openDatabase } from '../../support/database.ts';
import { wagergate } from '../support/command-line.ts';

let database: OpenDatabase;
beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database.drop());

describe('wagergate deliveries release', () => {
  const release = (generation: string) => {
    const GATEWAY_CONFIG = folderWith({
      'gateway.yaml': GATEWAY,
      'operators/alpha.yaml': operatorYaml('alpha', '', '  generation: 2'),
    });
    return wagergate(['deliveries', 'release', '--operator', 'alpha', '--generation', generation], {
      env: { DATABASE_URL: database.url, GATEWAY_CONFIG },
    });
  };

  it('says to which wallet the bets are released', async () => {
    const { code, stdout } = await release('3');
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^alpha: bets of generations up to 3 are released to its wallet of generation 2; /,
    );
  });

  it('refuses a generation that would let nothing go, as the admin API does', async () => {
    expect(await release('1')).toEqual({
      code: 2,
      stdout: '',
      stderr: 'error: --generation must be at least 2, the present wallet.generation\n',
    });
  });
});
