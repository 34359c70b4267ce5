import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN, startAdmin, type TestAdmin } from '../../admin/support/admin.ts';
import {
  folderWith,
  GATEWAY,
  operatorYaml,
  SERVICE_SECRET,
  walletSecret,
} from '../../config/support/folder.ts';
import { operatorFile } from '../../support/gateway.ts';
import { type Around, wagergate } from '../support/command-line.ts';

const BEFORE = {
  'gateway.yaml': GATEWAY,
  'operators/alpha.yaml': operatorYaml('alpha'),
  'operators/beta.yaml': operatorYaml('beta'),
  'operators/gamma.yaml': operatorYaml('gamma'),
};

const AFTER = {
  'gateway.yaml': `${GATEWAY}deadline: { totalMs: 4000 }\n`,
  'operators/alpha.yaml': operatorYaml('alpha', 'status: maintenance')
    .replace('https://wallet.alpha', 'https://new.alpha')
    .replace(walletSecret('alpha'), 'another-secret-than-before-that-is-long'),
  'operators/beta.yaml': operatorYaml('beta', '# only a comment differs'),
  'operators/delta.yaml': operatorYaml('delta'),
};

const diff = (args: readonly string[], around: Around = {}) =>
  wagergate(['config', 'diff', ...args], around);

describe('wagergate config diff against a folder', () => {
  const folders = () => ['--folder', folderWith(AFTER), '--against', folderWith(BEFORE)];

  it('shows who comes, goes and changes, setting by setting, and no secret', async () => {
    const { code, stdout, stderr } = await diff(folders());
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.trimEnd().split('\n')).toEqual([
      '~ gateway.yaml',
      '    deadline.totalMs: 4800 -> 4000',
      '~ operator alpha',
      '    status: active -> maintenance',
      '    wallet.baseUrl: https://wallet.alpha.example/sportsbook -> https://new.alpha.example/sportsbook',
      '    wallet.secrets: changed (a secret, not shown)',
      expect.stringMatching(
        /^ {2}! its WALLET HAS ANOTHER ADDRESS.* raise wallet\.generation too$/,
      ),
      '  ! nothing is sent to it: deliveries wait',
      '+ operator delta: added',
      '- operator gamma: removed',
      expect.stringMatching(/^ {2}! .*held until its file returns$/),
    ]);
    expect(stdout).not.toMatch(/another-secret|the-secret-that/);
  });

  it('is JSON for scripts, and an exit code where they ask for it', async () => {
    const { code, stdout } = await diff([...folders(), '--json', '--exit-code']);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      gateway: [{ path: 'deadline.totalMs', before: '4800', after: '4000' }],
      operators: [
        { id: 'alpha', kind: 'changed' },
        { id: 'delta', kind: 'added' },
        { id: 'gamma', kind: 'removed' },
      ],
    });
    const same = folderWith(BEFORE);
    const none = await diff(['--folder', same, '--against', folderWith(BEFORE), '--exit-code']);
    expect(none.code).toBe(0);
    expect(none.stdout).toMatch(/^nothing would change against /);
  });

  it('fails on a folder that is not valid, and says what is wrong in which folder', async () => {
    const broken = folderWith({ ...BEFORE, 'operators/beta.yaml': operatorYaml('beta', 'odd: 1') });
    const { code, stderr } = await diff(['--folder', broken, '--against', folderWith(BEFORE)]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^operators\/beta\.yaml: odd: .*\nerror: .* is not valid/);
  });
});

describe('wagergate config diff against a running gateway', () => {
  let admin: TestAdmin;
  beforeAll(async () => {
    admin = await startAdmin();
  });
  afterAll(() => admin.close());
  const env = () => ({ ADMIN_TOKEN, SERVICE_SECRET: 'the-services-secret' });
  const running = (folder: string) => ['--folder', folder, '--admin', admin.baseUrl];

  it('finds nothing where its own folder is asked about, secrets included', async () => {
    const { code, stdout, stderr } = await diff(running(admin.gateway.configFolder), {
      env: env(),
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(`nothing would change against the gateway at ${admin.baseUrl}\n`);
  });

  it('finds what the folder would change in it, also a secret alone', async () => {
    const { baseUrl } = admin.gateway.wallet('alpha');
    const alpha = operatorFile('alpha', baseUrl, {
      api: { secrets: ['quite-another-that-is-long-enough'] },
    });
    const folder = folderWith({
      'gateway.yaml': GATEWAY.replace('https://s2s.example', 'http://127.0.0.1:9').replace(
        `[${SERVICE_SECRET}]`,
        '[the-services-secret]',
      ),
      // JSON is YAML.
      'operators/alpha.yaml': JSON.stringify(alpha),
    });
    const { stdout } = await diff(running(folder), { env: env() });
    expect(stdout.split('\n').slice(0, 3)).toEqual([
      '~ operator alpha',
      '    api.secrets: changed (a secret, not shown)',
      '- operator beta: removed',
    ]);
    expect(stdout).not.toContain('quite-another');
  });

  it('is given fingerprints in place of secrets, and those need the token (I8)', async () => {
    const { status, text, json } = await admin.get('/admin/config');
    expect(status).toBe(200);
    expect(json.operators).toMatchObject({
      alpha: { 'wallet.secrets': { secrets: [expect.any(String)] }, 'wallet.timeoutMs': '4000' },
    });
    expect(text).not.toMatch(/wallet-secret|api-secret|the-services-secret/);
    // The same secret at two places has two fingerprints.
    const prints = new Set(text.match(/(?<="secrets":\[")[^"]+/g));
    expect(prints.size).toBe(5);
    const unasked = await fetch(`${admin.baseUrl}/admin/config`);
    expect(unasked.status).toBe(401);
  });
});
