import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PLAYER, SECRET, sandbox } from '../../certify/support/certification.ts';
import { folderWith } from '../../config/support/folder.ts';
import { type Ran, wagergate } from '../support/command-line.ts';

const ENV = { OPERATORS_KEY: 'a-key-of-the-operator', ENCRYPTION_KEY: 'nobody-may-have-it' };

/** Certifies without a configuration, with this file as `--dialect`. */
function given(dialect: string, wallet = 'http://127.0.0.1:9'): Promise<Ran> {
  const folder = folderWith({ 'dialect.yaml': dialect, secret: SECRET, token: PLAYER.token });
  const files = ['secret', 'token'].flatMap((name) => [`--${name}-file`, join(folder, name)]);
  const who = ['--wallet', wallet, '--user', PLAYER.userId, '--currency', 'USD', ...files];
  const where = ['--dialect', join(folder, 'dialect.yaml'), '--out', join(folder, 'out')];
  const args = ['certify', ...who, ...where, '--folder', folder, '--only', 'profile-user'];
  return wagergate(args, { env: ENV });
}

describe('a dialect given in a file', () => {
  it.each([
    ['okCode: [0]', 'okCode: is not a known key; known here: paths'],
    ['errorStatuses: { 500: 5 }', 'errorStatuses.500: must be an HTTP status from 200 to 499'],
    [
      'wallet: { dialect: { emptyOk: "true" } }',
      'wallet.dialect.emptyOk: must be true or false, not text',
    ],
    [`headers: { X-Key: "\${NOT_SET}" }`, `headers.X-Key: \${NOT_SET}: the environment variable`],
    [`headers: { X-Key: "\${ENCRYPTION_KEY}" }`, `\${ENCRYPTION_KEY} is the gateway's own`],
    [`headers: { X-Key: "\${file:/etc/passwd}" }`, 'is in none of the folders that secrets'],
    ['{ echo', 'line 1: not valid YAML'],
    ['# nothing', 'the file is empty'],
  ])('that says %s is refused with the reason: code 2', async (text, reason) => {
    const { code, stderr } = await given(text);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: .*dialect\.yaml: /);
    expect(stderr).toContain(reason);
  });

  it.each([
    `headers: { X-Key: "\${OPERATORS_KEY}" }`,
    `wallet:\n  secrets: ["\${NOT_SET}"]\n  dialect: { headers: { X-Key: "\${OPERATORS_KEY}" } }`,
  ])('has its variables put in, whatever else stands there: %s', async (text) => {
    const wallet = await sandbox();
    const { code, stderr } = await given(text, wallet.baseUrl);
    expect(stderr).not.toContain('error');
    expect(code).toBe(0);
    expect(wallet.requests.at(-1)?.headers['x-key']).toBe(ENV.OPERATORS_KEY);
  });
});
