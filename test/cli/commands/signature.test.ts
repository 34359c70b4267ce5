import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sign, signingKeys } from '../../../src/protocol/signature.ts';
import { spawnWagergate, wagergate } from '../support/command-line.ts';

const SECRET = 'demo-secret';
const BODY = '{"amount":12.10,"note":"für"}';

function signatureOf(body: string): string {
  const [key] = signingKeys([SECRET]);
  if (key === undefined) throw new Error('no key');
  return sign(body, key);
}

let folder: string;
let file: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'signature-'));
  file = join(folder, 'body.json');
  writeFileSync(file, BODY);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('wagergate sign', () => {
  it('prints the header for the exact bytes of stdin, in a process of its own (I9)', async () => {
    const env = { ALPHA_API_SECRET: SECRET };
    const ran = await spawnWagergate(['sign', '--secret-env', 'ALPHA_API_SECRET'], {
      env,
      stdin: `${BODY}\n`,
    });
    expect(ran).toEqual({ code: 0, stdout: `${signatureOf(`${BODY}\n`)}\n`, stderr: '' });
  });

  it.each([
    [[], 'either --secret or --secret-env'],
    [['--secret', 'a', '--secret-env', 'A'], 'either --secret or --secret-env'],
    [['--secret-env', 'NOT_THERE'], 'NOT_THERE is not set'],
    [['--secret', ''], 'empty'],
  ])('%j names no secret: code 2', async (options, why) => {
    const { code, stdout, stderr } = await wagergate(['sign', ...options, file]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(why);
  });
});

describe('wagergate verify', () => {
  const verify = (signature: string, body: string, ...options: readonly string[]) =>
    wagergate(['verify', '--secret', SECRET, '--signature', signature, ...options], {
      stdin: body,
    });

  it('takes what sign made', async () => {
    const ran = await verify(signatureOf(BODY), BODY);
    expect(ran).toEqual({ code: 0, stdout: 'valid\n', stderr: '' });
    const json = await verify(signatureOf(BODY), BODY, '--json');
    expect(JSON.parse(json.stdout)).toEqual({ valid: true });
  });

  it.each([
    ['a newline too many', signatureOf(BODY), `${BODY}\n`, 'end in a newline'],
    ['a Windows newline too many', signatureOf(BODY), `${BODY}\r\n`, 'end in a newline'],
    ['a newline too few', signatureOf(`${BODY}\n`), BODY, 'made with a newline'],
    ['other bytes', signatureOf(BODY), BODY.replace('10', '1'), 'another secret, or over other'],
    ['no signature', 'Bearer x', BODY, 'header..signature'],
    ['another algorithm', `${base64url('{"alg":"none"}')}..x`, BODY, 'HS256'],
    ['extensions', `${base64url('{"alg":"HS256","b64":false}')}..x`, BODY, 'extensions'],
  ])('says why not: %s', async (_, signature, body, why) => {
    const { code, stdout, stderr } = await verify(signature, body);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^error: not valid: .*\n$/);
    expect(stderr).toContain(why);
  });
});

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}
