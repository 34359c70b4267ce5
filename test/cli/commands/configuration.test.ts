import { describe, expect, it } from 'vitest';
import { folderWith, GATEWAY, operatorYaml, walletSecret } from '../../config/support/folder.ts';
import { wagergate } from '../support/command-line.ts';

const VALID = {
  'gateway.yaml': GATEWAY,
  'operators/beta.yaml': operatorYaml('beta', 'status: maintenance'),
  'operators/alpha.yaml': operatorYaml('alpha'),
};

const INVALID = {
  'gateway.yaml': GATEWAY,
  'operators/alpha.yaml': operatorYaml('alpha', 'statuss: active', '  timeoutMs: 9000'),
  'operators/beta.yaml': operatorYaml('beta').replace(walletSecret('beta'), `\${BETA_SECRET}`),
};

const PROBLEMS = [
  ['operators/alpha.yaml', 'wallet.timeoutMs'],
  ['operators/alpha.yaml', 'statuss'],
  ['operators/beta.yaml', 'wallet.secrets[0]'],
];

describe('wagergate config check', () => {
  it('lists the operators of a valid folder, without their secrets', async () => {
    const folder = folderWith(VALID);
    const { code, stdout, stderr } = await wagergate(['config', 'check', '--folder', folder]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`${folder} is valid: 2 operators`);
    expect(stdout).toMatch(/alpha +Operator alpha +active +issued +EUR +https:\S+/);
    expect(stdout).toMatch(/beta +Operator beta +maintenance/);
    expect(stdout).not.toContain('secret');
  });

  it('lists every problem of every file on a line of its own', async () => {
    const folder = folderWith(INVALID);
    const { code, stdout, stderr } = await wagergate(['config', 'check', '--folder', folder]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    const lines = stderr.trimEnd().split('\n');
    for (const [at, problem] of PROBLEMS.entries()) {
      expect(lines[at]).toMatch(`${problem.join(': ')}: `);
    }
    expect(lines.slice(PROBLEMS.length)).toEqual([
      `error: 3 problems in ${folder}: the gateway would not take it`,
    ]);
  });

  it('warns of secrets that are short, without showing them', async () => {
    const beta = operatorYaml('beta').replace(walletSecret('beta'), 'only-16-letters!');
    const folder = folderWith({ 'gateway.yaml': GATEWAY, 'operators/beta.yaml': beta });
    const { code, stdout, stderr } = await wagergate(['config', 'check', '--folder', folder]);
    expect(code).toBe(0);
    expect(stderr).toBe(
      'warning: operators/beta.yaml: wallet.secrets[0]: has fewer than 32 characters: agree on a longer one\n',
    );
    expect(stdout + stderr).not.toContain('only-16-letters!');
  });

  it('warns of a dialect that may have been meant otherwise', async () => {
    const items = '  dialect: { errorStatuses: { "409": 9 }, mapCodes: { place: { "9": 8 } } }';
    const beta = operatorYaml('beta', '', items);
    const folder = folderWith({ 'gateway.yaml': GATEWAY, 'operators/beta.yaml': beta });
    const { code, stderr } = await wagergate(['config', 'check', '--folder', folder]);
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^warning: operators\/beta\.yaml: wallet\.dialect\.errorStatuses\.409: .*mapCodes\.place\.9 .*\n$/,
    );
  });

  it('gives the problems as JSON', async () => {
    const folder = folderWith(INVALID);
    const { code, stdout } = await wagergate(['config', 'check', '--json', '--folder', folder]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      ok: false,
      folder,
      problems: PROBLEMS.map(([file, path]) => ({ file, path, reason: expect.any(String) })),
    });
  });
});

describe('wagergate operator list', () => {
  it('lists the operators', async () => {
    const folder = folderWith(VALID);
    const text = await wagergate(['operator', 'list', '--folder', folder]);
    expect(text.stdout.split('\n')[0]).toMatch(/^id +name +status +sessions +currencies +wallet$/);
    expect(text.stdout).toMatch(/\nalpha .*\nbeta .*\n$/);
    const json = await wagergate(['operator', 'list', '--json', '--folder', folder]);
    expect(JSON.parse(json.stdout)).toMatchObject([{ id: 'alpha' }, { id: 'beta' }]);
    expect(json.stdout).not.toContain('secret');
  });

  it('fails in one line on a configuration that is not valid', async () => {
    const folder = folderWith(INVALID);
    const { code, stderr } = await wagergate(['operator', 'list', '--folder', folder]);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^error: .* is not valid \(.*timeoutMs.*\): .*`wagergate config check`\n$/,
    );
  });

  it('lists the others where one file is broken, and says which was left out', async () => {
    const folder = folderWith({ ...VALID, 'operators/beta.yaml': INVALID['operators/beta.yaml'] });
    const text = await wagergate(['operator', 'list', '--folder', folder]);
    expect(text.code).toBe(0);
    expect(text.stdout).toMatch(/\nalpha .*\n$/);
    expect(text.stderr).toMatch(/^warning: left out, operators\/beta\.yaml: .*BETA_SECRET.*\n$/);
    const json = await wagergate(['operator', 'list', '--json', '--folder', folder]);
    expect(JSON.parse(json.stdout)).toMatchObject([{ id: 'alpha' }]);
  });
});
