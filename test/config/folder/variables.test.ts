import { rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { maskVariables, unmask } from '../../../src/config/folder/variables.ts';
import {
  alphaProblems,
  folderWith,
  GATEWAY,
  gatewayProblems,
  load,
  loadAlpha,
  operatorYaml,
  problemsOf,
  put,
  SERVICE_SECRET,
  walletSecret,
} from '../support/folder.ts';

const gatewayWith = (secrets: string) => ({
  'gateway.yaml': GATEWAY.replace(`[${SERVICE_SECRET}]`, secrets),
});

const ONE = 'one-of-16-letters';
const TWO = 'two-of-16-letters';

/** A header of the wallet: a place in an operator's file where any variable is allowed. */
const HEADER = (value: string) => `  dialect: { headers: { x-site: "${value}" } }`;

const secretsOf = (secrets: string, env: NodeJS.ProcessEnv) =>
  load(gatewayWith(secrets), env).gateway.service.secrets;

describe('variables', () => {
  it.each([
    ['in a flow list, unquoted', '[${A}, ${B}]'],
    ['in a flow list, quoted', `["\${A}", '\${B}']`],
    ['in a block list', '\n    - ${A}\n    - "${B}"'],
    ['in block text', '\n    - |-\n      ${A}\n    - >-\n      ${B}'],
  ])('stand %s', (_where, secrets) => {
    expect(secretsOf(secrets, { A: ONE, B: TWO })).toEqual([ONE, TWO]);
  });

  it('stand inside a longer text', () => {
    const headers = '  dialect: { headers: { x-site: "a-${SITE}-${SITE}.${N}" } }';
    const alpha = loadAlpha('', headers, { SITE: 'x', N: '7' });
    expect(alpha.wallet.dialect.headers).toEqual({ 'x-site': 'a-x-x.7' });
  });

  it('can never become YAML, whatever they hold', () => {
    const nasty = 'x"]\nevil: true # \'{[&*!|>%@`';
    for (const quoted of ['${A}', '"${A}"', "'${A}'"]) {
      const files = { 'gateway.yaml': GATEWAY.replace('cid: aggregator-key', `cid: ${quoted}`) };
      expect(load(files, { A: nasty }).gateway.service.cid).toBe(nasty);
    }
  });

  it('are looked up once: what one holds is no variable again', () => {
    expect(secretsOf('[${A}]', { A: '${B} ${file:/etc/passwd}', B: 'two' })).toEqual([
      '${B} ${file:/etc/passwd}',
    ]);
  });

  it('are not needed for comments', () => {
    const secrets = `[${ONE}] # or \${NOT_SET}, \${file:/not/there}, \${`;
    expect(secretsOf(secrets, {})).toEqual([ONE]);
  });

  it('become a number or boolean where the schema takes nothing else', () => {
    const files = {
      'gateway.yaml': `${GATEWAY}  trustProxy: \${PROXY}\ndelivery: { horizonHours: \${HOURS} }\n`,
    };
    const { gateway } = load(files, { PROXY: 'false', HOURS: '0.5' });
    expect(gateway.service.trustProxy).toBe(false);
    expect(gateway.delivery.horizonHours).toBe(0.5);
  });

  it('stay text if the schema expects text, even when they look like a number', () => {
    const files = { 'gateway.yaml': GATEWAY.replace('aggregator-key', '${ID}') };
    expect(load(files, { ID: '0042' }).gateway.service.cid).toBe('0042');
  });

  it.each(['"${T}"', '${T}0', "'${T}'"])('stay text when written as %s', (written) => {
    expect(gatewayProblems(`  bonusTimeoutMs: ${written}`, { T: '250' })).toEqual([
      'gateway.yaml: service.bonusTimeoutMs: must be a whole number, not text (from ${T})',
    ]);
  });

  it('are judged by the schema like any other value, without being shown', () => {
    expect(gatewayProblems('deadline: { totalMs: ${T} }', { T: 'hunter2' })).toEqual([
      'gateway.yaml: deadline.totalMs: must be a whole number, not text (from ${T})',
    ]);
    expect(gatewayProblems('deadline: { totalMs: ${T} }', { T: '6000' })).toEqual([
      'gateway.yaml: deadline.totalMs: must be at most 5000 (from ${T})',
    ]);
    expect(alphaProblems('', '  tls: { ca: "${S}" }', { S: 'hunter2' })).toEqual([
      expect.stringMatching(/^operators\/alpha\.yaml: wallet\.tls\.ca: must be .* \(from \${S}\)$/),
    ]);
  });

  it('name file, path and variable when missing or empty, each once', () => {
    const alpha = operatorYaml('alpha', '', HEADER('${A}-${A}')).replace(
      walletSecret('alpha'),
      '${B}',
    );
    expect(
      problemsOf({ ...gatewayWith(`[${ONE}, \${C}]`), 'operators/alpha.yaml': alpha }, { B: '' }),
    ).toEqual([
      'gateway.yaml: service.secrets[1]: ${C}: the environment variable is not set',
      'operators/alpha.yaml: wallet.secrets[0]: ${B}: the environment variable is empty',
      'operators/alpha.yaml: wallet.dialect.headers.x-site: ${A}: the environment variable is not set',
    ]);
  });

  it('cause no second problem where they are missing', () => {
    const more = 'deadline: { totalMs: ${A} }\nidempotency: { ttlSeconds: 0 }';
    expect(gatewayProblems(more)).toEqual([
      'gateway.yaml: deadline.totalMs: ${A}: the environment variable is not set',
      'gateway.yaml: idempotency.ttlSeconds: must be at least 1',
    ]);
  });

  it.each(['${}', '${1A}', '${A B}', '${A:-x}'])('refuse %s', (written) => {
    expect(alphaProblems('', HEADER(written), { A: 'x' })).toEqual([
      `operators/alpha.yaml: wallet.dialect.headers.x-site: ${written} is not a variable: write \${NAME} or \${file:/path}`,
    ]);
  });

  it('refuse to be left open, so that no secret reads "${NAME"', () => {
    expect(problemsOf(gatewayWith('["${A_secret_that_is_left_open"]'), { A: 'x' })).toEqual([
      'gateway.yaml: service.secrets[0]: a variable begins that does not end: close it with }',
    ]);
  });

  it('refuse to be a key, without showing what they hold', () => {
    const lines = gatewayProblems('${KEY}: 1', { KEY: 'hunter2' });
    expect(lines[0]).toBe('gateway.yaml: the key ${KEY} must not hold a variable');
    expect(lines.join()).not.toMatch(/hunter2|VARIABLE/);
  });

  it('show by their name, not their content or stand-in, where the text is no YAML', () => {
    const lines = gatewayProblems('x: *${A}\ny: [', { A: 'hunter2' });
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join()).not.toMatch(/hunter2|VARIABLE/);
  });

  it('are told from words of the file that look like their stand-ins', () => {
    const alpha = loadAlpha('', HEADER('VARIABLE0N-VARIABLEX0N-${A}'), { A: 'x' });
    expect(alpha.wallet.dialect.headers).toEqual({ 'x-site': 'VARIABLE0N-VARIABLEX0N-x' });
  });

  it('mask and unmask to the same text, with the same number of lines', () => {
    const piece = fc.constantFrom(
      '${A}',
      '${file:/x}',
      'VARIABLE',
      '0N',
      'X',
      '\n',
      '${',
      '}',
      'a',
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const source = pieces.join('');
        const masked = maskVariables(source);
        expect(unmask(masked.text, masked)).toBe(source);
        expect(masked.text.split('\n')).toHaveLength(source.split('\n').length);
      }),
    );
  });

  it('hold any text in any quoting (random contents)', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 16 }).filter((it) => it.trim() !== ''),
        (value) => {
          const masked = maskVariables('[${A}]');
          expect(parse(masked.text)).toEqual([[...masked.words.keys()][0]]);
          expect(secretsOf('[${A}, "${A}"]', { A: value })).toEqual([value, value]);
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe('variables of files', () => {
  it("take a file's content, trimmed", () => {
    const path = join(folderWith({ secret: '  one two and three \n\n' }), 'secret');
    expect(secretsOf(`[\${file:${path}}]`, {})).toEqual(['one two and three']);
  });

  it.each(['\n', '\r\n'])('hold one secret, and not two lines taken for one (%j)', (lineBreak) => {
    const both = ['the-secret-of-before', 'the-secret-of-now-on'].join(lineBreak);
    const path = join(folderWith({ secret: `${both}\n` }), 'secret');
    const problems = problemsOf(gatewayWith(`[\${file:${path}}]`));
    expect(problems).toEqual([
      'gateway.yaml: service.secrets[0]: must be one line: give each secret a variable or a file ' +
        `of its own (from \${file:${path}})`,
    ]);
  });

  it('name the file when it is missing, empty, a folder or no text', () => {
    const folder = folderWith({ empty: ' \n' });
    const at = (name: string) => join(folder, name);
    rmSync(at('none'), { force: true });
    const problem = (path: string) => problemsOf(gatewayWith(`[\${file:${path}}]`));
    const line = (path: string, why: string) => [
      `gateway.yaml: service.secrets[0]: \${file:${path}}: ${why}`,
    ];
    expect(problem(at('none'))).toEqual(line(at('none'), 'the file does not exist'));
    expect(problem(at('empty'))).toEqual(
      line(at('empty'), 'the file is empty: put the value into it'),
    );
    expect(problem(at('operators'))).toEqual(
      line(at('operators'), 'the file is not a regular file'),
    );
    expect(problem('secret')).toEqual(
      line('secret', 'the path must be absolute, such as /run/secrets/x'),
    );
    put(folder, 'large', 'x'.repeat(1024 * 1024 + 1));
    expect(problem(at('large'))).toEqual(line(at('large'), 'the file is larger than 64 KiB'));
  });
});
