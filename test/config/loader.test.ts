import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfiguration } from '../../src/config/loader.ts';
import { ConfigError } from '../../src/config/problems.ts';
import {
  alphaProblems,
  folderWith,
  GATEWAY,
  gatewayProblems,
  load,
  loadAlpha,
  operatorYaml,
  problemsOf,
  SERVICE_SECRET,
} from './support/folder.ts';

describe('loading the folder', () => {
  it('takes .yaml and .yml in any case, in alphabetical order, and leaves dotfiles and other files alone', () => {
    const { operators } = load({
      'operators/gamma.YAML': operatorYaml('gamma'),
      'operators/alpha-two.yml': operatorYaml('alpha-two'),
      'operators/alpha.yaml': operatorYaml('alpha'),
      'operators/.alpha.yaml.swp': 'not yaml: [',
      'operators/.hidden.yaml': 'not yaml: [',
      'operators/..data/alpha.yaml': 'not yaml: [',
      'operators/alpha.yaml~': 'not yaml: [',
      'operators/README.md': 'not yaml: [',
    });
    expect([...operators.keys()]).toEqual(['alpha', 'alpha-two', 'gamma']);
  });

  it('starts without any operator: the first may come while it runs', () => {
    expect(load({}).operators.size).toBe(0);
  });

  it('collects every problem of every file, one line each', () => {
    const files = {
      'gateway.yaml': `${GATEWAY}deadline: { totalMs: 9000 }\nextra: 1\n`,
      'operators/alpha.yaml': operatorYaml('alpha', 'status: odd', '  timeoutMs: -1'),
      'operators/beta.yaml': 'id: [',
    };
    const attempt = () => loadConfiguration(folderWith(files), {});
    expect(attempt).toThrow(ConfigError);
    expect(problemsOf(files)).toEqual([
      'gateway.yaml: deadline.totalMs: must be at most 5000',
      'gateway.yaml: extra: is not a known key; known here: service, deadline, http, idempotency, delivery, evidence, books',
      'operators/alpha.yaml: status: must be one of active, maintenance, suspended',
      'operators/alpha.yaml: wallet.timeoutMs: must be at least 1',
      expect.stringMatching(/^operators\/beta\.yaml: line \d: not valid YAML/),
    ]);
  });

  it('gives each problem as file, path and reason', () => {
    const folder = folderWith({ 'gateway.yaml': GATEWAY.replace(`[${SERVICE_SECRET}]`, '[{}]') });
    try {
      loadConfiguration(folder, {});
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigError);
      expect(error).toHaveProperty('problems', [
        {
          file: 'gateway.yaml',
          path: 'service.secrets[0]',
          reason: 'must be text (put it in quotes), not a group of keys',
        },
      ]);
    }
  });

  it('names folder and file when they are not there', () => {
    const folder = join(folderWith({}), 'none');
    expect(() => loadConfiguration(folder, {})).toThrow(
      `gateway.yaml: the file ${folder}/gateway.yaml does not exist\n` +
        `operators: the folder ${folder}/operators does not exist`,
    );
  });

  it('wants the id to be the name of the file', () => {
    expect(problemsOf({ 'operators/alpha.yaml': operatorYaml('beta') })).toEqual([
      'operators/alpha.yaml: id: must be alpha, as the file is named, or the file renamed',
    ]);
    expect(problemsOf({ 'operators/Alpha.yaml': operatorYaml('alpha') })).toEqual([
      "operators/Alpha.yaml: id: the file's name is no operator id: rename it to alpha.yaml",
    ]);
    expect(problemsOf({ 'operators/a.yaml': operatorYaml('a') })).toEqual([
      expect.stringContaining('id: must be 2 to 32 lower-case letters'),
    ]);
  });

  it('refuses two files of one operator', () => {
    const files = {
      'operators/alpha.yaml': operatorYaml('alpha'),
      'operators/alpha.yml': operatorYaml('alpha'),
    };
    expect(problemsOf(files)).toEqual([
      "operators/alpha.yml: is a second file of operators/alpha.yaml's operator: remove one of them",
    ]);
  });

  it('refuses one api.cid for two operators (I8)', () => {
    const files = {
      'operators/alpha.yaml': operatorYaml('alpha'),
      'operators/beta.yaml': operatorYaml('beta').replace('beta-key', 'alpha-key'),
    };
    expect(problemsOf(files)).toEqual([
      'operators/beta.yaml: api.cid: is the key of operators/alpha.yaml too: give each operator its own',
    ]);
  });

  it('returns an immutable configuration', () => {
    const alpha = loadAlpha();
    expect(() => Object.assign(alpha.wallet, { baseUrl: 'https://evil.example' })).toThrow(
      TypeError,
    );
    expect(() => Object.assign(alpha.wallet.dialect.headers, { a: 'b' })).toThrow(TypeError);
  });

  it('loads 300 operators quickly', () => {
    const ids = Array.from({ length: 300 }, (_, index) => `operator-${index}`);
    const folder = folderWith({
      'gateway.yaml': GATEWAY,
      ...Object.fromEntries(ids.map((id) => [`operators/${id}.yaml`, operatorYaml(id)])),
    });
    // This thread's own time: a machine that is busy with other tests takes longer.
    const before = process.threadCpuUsage();
    expect(loadConfiguration(folder, {}).operators.size).toBe(300);
    const { user, system } = process.threadCpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(5000);
  });
});

describe('unknown keys', () => {
  it.each([
    ['statsu: active', '', 'statsu: is not a known key; known here: id'],
    ['Sessions: {}', '', 'Sessions: is not a known key; known here: id'],
    ['sessions: { ttl: 5 }', '', 'sessions.ttl: is not a known key; known here: mode, ttlSeconds'],
    ['', '  timeoutMS: 5', 'wallet.timeoutMS: is not a known key; known here: adapter'],
    [
      '',
      '  breaker: { openms: 1 }',
      'wallet.breaker.openms: is not a known key; known here: errorPercent',
    ],
    ['"a b": 1', '', '["a b"]: is not a known key; known here: id'],
    ['__proto__: { status: suspended }', '', '__proto__: is not a known key'],
    ['unused:', '', 'unused: is not a known key'],
  ])('are errors: %s%s', (more, wallet, reason) => {
    expect(alphaProblems(more, wallet)).toEqual([
      expect.stringContaining(`operators/alpha.yaml: ${reason}`),
    ]);
  });
});

describe('text that is no YAML', () => {
  it('is named with its line', () => {
    expect(problemsOf({ 'gateway.yaml': `${GATEWAY}service: {}\n` })).toEqual([
      'gateway.yaml: line 6: the key is in this group twice: keep one of them',
    ]);
    expect(gatewayProblems('---\nsecond: document')).toEqual([
      expect.stringMatching(/^gateway\.yaml: line 6: the file must hold one document/),
    ]);
    expect(gatewayProblems('\tdeadline: {}')).toEqual([
      expect.stringMatching(/^gateway\.yaml: line 6: not valid YAML/),
    ]);
  });

  it('is never quoted, for a secret may stand in it', () => {
    const broken = [
      'secrets: [*hunter2]',
      'secrets: ["\\hunter2"]',
      'secrets: [!hunter2 x]',
      'secrets: ]hunter2',
    ];
    for (const secrets of broken) {
      const file = GATEWAY.replace(`secrets: [${SERVICE_SECRET}]`, secrets);
      const lines = problemsOf({ 'gateway.yaml': file });
      expect(lines.length).toBeGreaterThan(0);
      expect(lines.join()).not.toContain('hunter2');
    }
  });

  it('is refused when empty, a list or not UTF-8', () => {
    expect(problemsOf({ 'gateway.yaml': '# nothing\n' })).toEqual([
      'gateway.yaml: the file is empty: fill it in',
    ]);
    expect(problemsOf({ 'gateway.yaml': '- a\n' })).toEqual([
      'gateway.yaml: must be a group of keys, not a list',
    ]);
    const folder = folderWith({});
    writeFileSync(join(folder, 'gateway.yaml'), Buffer.from([0x61, 0xff, 0x0a]));
    expect(() => loadConfiguration(folder, {})).toThrow(/gateway\.yaml is not UTF-8 text/);
  });

  it('is read at a glance where an address is nothing but slashes (I1)', () => {
    const address = `${'/'.repeat(60_000)}y`;
    const alpha = operatorYaml('alpha').replace('/sportsbook', `${address}//`);
    const before = process.cpuUsage();
    const { operators } = load({ 'operators/alpha.yaml': alpha });
    // A pattern that searched for trailing slashes from each position took some seconds.
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(1_000);
    expect(operators.get('alpha')?.wallet.baseUrl.endsWith(address)).toBe(true);
  });

  it('repeats no value by an alias, which could explode or carry a secret elsewhere', () => {
    expect(gatewayProblems('a: &a [x]\nb: *a')).toContainEqual(
      expect.stringContaining('b: aliases (*name) are not read: write the value out'),
    );
  });
});
