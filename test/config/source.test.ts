import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ConfigError } from '../../src/config/problems.ts';
import type { Configuration } from '../../src/config/schema.ts';
import { ConfigurationSource, type ReloadResult } from '../../src/config/source.ts';
import { folderWith, GATEWAY, operatorYaml, put, walletSecret } from './folder.ts';

interface LogLine {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly facts: object;
}

const three = () => ({
  'gateway.yaml': GATEWAY,
  'operators/alpha.yaml': operatorYaml('alpha'),
  'operators/beta.yaml': operatorYaml('beta'),
  'operators/gamma.yaml': operatorYaml('gamma'),
});

/** A source on a temporary folder, with all that it said. */
function sourceOn(files: Readonly<Record<string, string>>, env: NodeJS.ProcessEnv = {}) {
  const folder = folderWith(files);
  const log: LogLine[] = [];
  const reloads: ReloadResult[] = [];
  const changes: { next: Configuration; previous: Configuration }[] = [];
  const source = new ConfigurationSource({
    folder,
    env,
    logger: {
      info: (facts, message) => log.push({ level: 'info', message, facts }),
      warn: (facts, message) => log.push({ level: 'warn', message, facts }),
      error: (facts, message) => log.push({ level: 'error', message, facts }),
    },
    onReload: (result) => reloads.push(result),
  });
  onTestFinished(() => source.close());
  source.onChange((next, previous) => changes.push({ next, previous }));
  return {
    source,
    log,
    reloads,
    changes,
    put: (name: string, text: string) => put(folder, name, text),
    remove: (name: string) => rmSync(join(folder, name), { recursive: true }),
    rename: (from: string, to: string) => renameSync(join(folder, from), join(folder, to)),
  };
}

const linesOf = (result: ReloadResult) => new ConfigError(result.problems).message.split('\n');

describe('the configuration in force', () => {
  it('does not start on any invalid file', () => {
    const files = { ...three(), 'operators/beta.yaml': operatorYaml('beta', 'status: odd') };
    expect(() => sourceOn(files)).toThrow(/^operators\/beta\.yaml: status: must be one of/);
  });

  it('follows added, changed and removed files and leaves the others as they are (I7)', async () => {
    const { source, changes, put, remove } = sourceOn(three());
    const before = source.current;
    put('operators/alpha.yaml', operatorYaml('alpha', 'status: maintenance'));
    put('operators/delta.yaml', operatorYaml('delta'));
    remove('operators/gamma.yaml');

    const result = await source.reload();

    expect(result).toEqual({
      result: 'ok',
      changed: { gateway: false, added: ['delta'], updated: ['alpha'], removed: ['gamma'] },
      problems: [],
    });
    expect([...source.current.operators.keys()]).toEqual(['alpha', 'beta', 'delta']);
    expect(source.current.operators.get('alpha')?.status).toBe('maintenance');
    expect(source.current.operators.get('beta')).toBe(before.operators.get('beta'));
    expect(source.current.gateway).toBe(before.gateway);
    expect(changes).toEqual([{ next: source.current, previous: before }]);
  });

  it('stays the same object when nothing changed, also when a comment did', async () => {
    const { source, changes, put } = sourceOn(three());
    const before = source.current;
    put('gateway.yaml', `# a comment\n${GATEWAY}`);
    put('operators/alpha.yaml', `# a comment\n${operatorYaml('alpha')}`);
    const result = await source.reload();
    expect(result.changed).toEqual({ gateway: false, added: [], updated: [], removed: [] });
    expect(source.current).toBe(before);
    expect(changes).toEqual([]);
  });

  it("keeps an invalid file's last good version and takes everybody else's changes", async () => {
    const { source, put } = sourceOn(three());
    const before = source.current.operators.get('alpha');
    put('operators/alpha.yaml', operatorYaml('alpha', 'status: odd'));
    put('operators/beta.yaml', operatorYaml('beta', 'status: suspended'));
    put('operators/delta.yaml', 'id: delta');

    const result = await source.reload();

    expect(result.result).toBe('invalid');
    expect(result.changed).toMatchObject({ added: [], updated: ['beta'], removed: [] });
    expect(source.current.operators.get('alpha')).toBe(before);
    expect(source.current.operators.get('beta')?.status).toBe('suspended');
    expect(source.current.operators.has('delta')).toBe(false);

    put('operators/alpha.yaml', operatorYaml('alpha', 'status: suspended'));
    put('operators/delta.yaml', operatorYaml('delta'));
    const mended = await source.reload();
    expect(mended.result).toBe('ok');
    expect(mended.changed).toMatchObject({ added: ['delta'], updated: ['alpha'] });
  });

  it.each([
    ['invalid', ({ put }: ReturnType<typeof sourceOn>) => put('gateway.yaml', 'service: 5')],
    ['missing', ({ remove }: ReturnType<typeof sourceOn>) => remove('gateway.yaml')],
  ])('keeps the last good gateway when gateway.yaml is %s', async (_how, harm) => {
    const running = sourceOn(three());
    const { source, put } = running;
    const before = source.current;
    harm(running);
    put('operators/beta.yaml', operatorYaml('beta', 'status: suspended'));
    const result = await source.reload();
    expect(result.result).toBe('invalid');
    expect(source.current.gateway).toBe(before.gateway);
    expect(source.current.operators.get('beta')?.status).toBe('suspended');
  });

  it('removes nobody when the folder of operators cannot be listed', async () => {
    const { source, rename } = sourceOn(three());
    const before = source.current;
    rename('operators', 'elsewhere');
    const result = await source.reload();
    expect(linesOf(result)).toEqual([
      expect.stringMatching(/^operators: the folder .* not exist$/),
    ]);
    expect(source.current).toBe(before);
  });

  it("carries a change of the gateway's delivery settings into its operators", async () => {
    const { source, put } = sourceOn({
      ...three(),
      'operators/beta.yaml': operatorYaml('beta', 'delivery: { horizonHours: 1 }'),
    });
    put('gateway.yaml', `${GATEWAY}delivery: { horizonHours: 5 }\n`);
    // Invalid: its last good version stands, under the gateway's settings of now.
    put('operators/gamma.yaml', operatorYaml('gamma', 'status: odd'));
    const result = await source.reload();
    expect(result.changed).toMatchObject({ gateway: true, updated: ['alpha', 'gamma'] });
    const hours = [...source.current.operators.values()].map((it) => it.delivery.horizonHours);
    expect(hours).toEqual([5, 1, 5]);
  });

  it('reports an operator that a change of the gateway leaves at odds, and keeps it', async () => {
    const { source, put } = sourceOn({
      ...three(),
      'operators/beta.yaml': operatorYaml('beta', '', '  timeoutMs: 4000'),
    });
    const before = source.current.operators.get('beta');
    put('gateway.yaml', `${GATEWAY}deadline: { totalMs: 3000 }\n`);
    const result = await source.reload();
    expect(linesOf(result)).toEqual([
      'operators/beta.yaml: wallet.timeoutMs: 4000 is above deadline.totalMs (3000) of gateway.yaml: lower it',
    ]);
    expect(source.current.gateway.deadline.totalMs).toBe(3000);
    expect(source.current.operators.get('beta')).toBe(before);
    expect(source.current.operators.get('alpha')?.wallet.timeoutMs).toBe(3000);
  });

  it('takes changed variables without a changed file', async () => {
    const env = { SECRET: 'one-with-16-letters' };
    const alpha = operatorYaml('alpha').replace(walletSecret('alpha'), '${SECRET}');
    const { source } = sourceOn({ ...three(), 'operators/alpha.yaml': alpha }, env);
    env.SECRET = 'two-with-16-letters';
    expect((await source.reload()).changed.updated).toEqual(['alpha']);
    expect(source.current.operators.get('alpha')?.wallet.secrets).toEqual(['two-with-16-letters']);
  });

  it('gives a change once when asked twice at once', async () => {
    const { source, put, changes } = sourceOn(three());
    put('operators/alpha.yaml', operatorYaml('alpha', 'status: suspended'));
    const [first, second] = await Promise.all([source.reload(), source.reload()]);
    expect(first.changed.updated).toEqual(['alpha']);
    expect(second.changed.updated).toEqual([]);
    expect(changes).toHaveLength(1);
  });
});

describe('keys of operators (I8)', () => {
  const withKey = (id: string, key: string) => operatorYaml(id).replace(`${id}-key`, key);
  const keysOf = ({ current }: ConfigurationSource) =>
    [...current.operators.values()].map((it) => it.api.cid);

  it('stay with whom they belong to: the file that changed is the invalid one', async () => {
    const { source, put } = sourceOn(three());
    put('operators/alpha.yaml', withKey('alpha', 'beta-key'));
    put('operators/aardvark.yaml', withKey('aardvark', 'gamma-key'));
    const result = await source.reload();
    expect(linesOf(result).sort()).toEqual([
      'operators/aardvark.yaml: api.cid: is the key of operators/gamma.yaml too: give each operator its own',
      'operators/alpha.yaml: api.cid: is the key of operators/beta.yaml too: give each operator its own',
    ]);
    expect(keysOf(source)).toEqual(['alpha-key', 'beta-key', 'gamma-key']);
  });

  it('may be swapped at once', async () => {
    const { source, put } = sourceOn(three());
    put('operators/alpha.yaml', withKey('alpha', 'beta-key'));
    put('operators/beta.yaml', withKey('beta', 'alpha-key'));
    expect((await source.reload()).result).toBe('ok');
    expect(keysOf(source)).toEqual(['beta-key', 'alpha-key', 'gamma-key']);
  });

  it('stay with their owner also when it has to step back to its last good version', async () => {
    const { source, put } = sourceOn(three());
    put('operators/alpha.yaml', withKey('alpha', 'gamma-key'));
    put('operators/beta.yaml', withKey('beta', 'alpha-key'));
    expect(linesOf(await source.reload())).toHaveLength(2);
    expect(keysOf(source)).toEqual(['alpha-key', 'beta-key', 'gamma-key']);
  });

  it('stay with their owner when only the gateway changed beside it', async () => {
    const { source, put } = sourceOn(three());
    put('gateway.yaml', `${GATEWAY}delivery: { horizonHours: 5 }\n`);
    put('operators/alpha.yaml', withKey('alpha', 'gamma-key'));
    await source.reload();
    expect(keysOf(source)).toEqual(['alpha-key', 'beta-key', 'gamma-key']);
  });

  it('are taken over once they are free, without another change of the file', async () => {
    const { source, put, remove } = sourceOn(three());
    put('operators/alpha.yaml', withKey('alpha', 'gamma-key'));
    expect((await source.reload()).result).toBe('invalid');
    remove('operators/gamma.yaml');
    const result = await source.reload();
    expect(result.changed).toMatchObject({ updated: ['alpha'], removed: ['gamma'] });
    expect(keysOf(source)).toEqual(['gamma-key', 'beta-key']);
  });
});

describe('what a reload says', () => {
  it('logs file, path and reason of each problem and tells the hook', async () => {
    const { source, put, log, reloads } = sourceOn(three());
    put('operators/alpha.yaml', operatorYaml('alpha', 'status: odd'));
    const result = await source.reload();
    expect(log).toEqual([
      {
        level: 'error',
        message: 'config.invalid',
        facts: {
          file: 'operators/alpha.yaml',
          path: 'status',
          reason: 'must be one of active, maintenance, suspended',
        },
      },
      {
        level: 'info',
        message: 'config.reloaded',
        facts: { result: 'invalid', gateway: false, added: [], updated: [], removed: [] },
      },
    ]);
    expect(reloads).toEqual([result]);
  });

  it('warns of what can cost money: a moved wallet, new books, a removed operator', async () => {
    const { source, put, remove, log } = sourceOn(three());
    const alpha = operatorYaml('alpha', '', '  generation: 2');
    put('operators/alpha.yaml', alpha.replace('wallet.alpha.example', 'new.alpha.example'));
    put('operators/beta.yaml', operatorYaml('beta', 'status: suspended'));
    remove('operators/gamma.yaml');
    await source.reload();
    const warnings = log.filter(({ level }) => level === 'warn');
    expect(warnings.map(({ message, facts }) => [message.split(':')[0], facts])).toEqual([
      [
        'config.wallet_moved',
        {
          operator: 'alpha',
          from: 'https://wallet.alpha.example/sportsbook',
          to: 'https://new.alpha.example/sportsbook',
        },
      ],
      ['config.wallet_generation', { operator: 'alpha', from: 1, to: 2 }],
      ['config.operator_removed', { operator: 'gamma' }],
    ]);
    // Said once, not again with every later reload.
    put('operators/beta.yaml', operatorYaml('beta'));
    await source.reload();
    expect(log.filter(({ level }) => level === 'warn')).toHaveLength(3);
  });

  it('warns of a wallet generation that was lowered, and does not call its bets held', async () => {
    const { source, put, log } = sourceOn(three());
    put('operators/alpha.yaml', operatorYaml('alpha', '', '  generation: 2'));
    await source.reload();
    put('operators/alpha.yaml', operatorYaml('alpha'));
    await source.reload();
    const last = log.filter(({ level }) => level === 'warn').at(-1);
    expect(last?.message).toMatch(/^config\.wallet_generation_lowered: (?!.*held)/);
    expect(last?.facts).toEqual({ operator: 'alpha', from: 2, to: 1 });
  });

  it('logs a listener that throws and still calls the others', async () => {
    const { source, put, log, changes } = sourceOn(three());
    const fault = new Error('a listener broke');
    const heard: Configuration[] = [];
    source.onChange(() => {
      throw fault;
    });
    source.onChange((next) => heard.push(next));
    put('operators/alpha.yaml', operatorYaml('alpha', 'status: suspended'));
    expect((await source.reload()).result).toBe('ok');
    expect(changes).toHaveLength(1);
    expect(heard).toEqual([source.current]);
    expect(log).toContainEqual({
      level: 'error',
      message: 'config.listener_failed',
      facts: { err: fault },
    });
  });

  it('no longer calls a listener that ended', async () => {
    const { source, put } = sourceOn(three());
    const heard: Configuration[] = [];
    const end = source.onChange((next) => heard.push(next));
    end();
    put('operators/alpha.yaml', operatorYaml('alpha', 'status: suspended'));
    await source.reload();
    expect(heard).toEqual([]);
  });
});

describe('a careless file', () => {
  const many = (count: number, line: (n: number) => string) =>
    Array.from({ length: count }, (_, n) => line(n)).join('\n');

  it.each([
    ['thousands of keys', many(20_000, (n) => `some-longer-key-${n}: value`), '64 KiB'],
    ['more entries than any', `x: [${'[],'.repeat(3_001)}]`, '3000 lines or entries'],
    ['more lines than any', '\t\n'.repeat(3_001), '3000 lines or entries'],
    ['mistakes without end', `x: "${'\\q'.repeat(20_000)}"`, '3000 lines or entries'],
    ['aliases without end', 'a: *b\n'.repeat(400), '3000 lines or entries'],
  ])(
    'with %s is refused at a glance, whatever parsing it would cost (I1)',
    async (_, text, why) => {
      const { source, put } = sourceOn(three());
      put('operators/beta.yaml', `${operatorYaml('beta')}\n${text}`);
      const before = process.cpuUsage();
      const result = await source.reload();
      const { user } = process.cpuUsage(before);
      expect(linesOf(result)).toEqual([expect.stringContaining(why)]);
      // It took seconds to most of a minute; three good files take a few milliseconds.
      expect(user / 1000).toBeLessThan(1_000);
      expect(source.current.operators.has('beta')).toBe(true);
    },
  );

  it('tells its first twenty problems and how many more there are', async () => {
    const { source, put, log } = sourceOn(three());
    put('operators/beta.yaml', `${operatorYaml('beta')}\n${many(500, (n) => `odd${n}: 1`)}`);
    const lines = linesOf(await source.reload());
    expect(lines).toHaveLength(21);
    expect(lines.at(-1)).toBe('operators/beta.yaml: has 480 more problems');
    expect(log.filter(({ level }) => level === 'error')).toHaveLength(21);
  });

  it('logs no more than a hundred problems of all files together', async () => {
    const { source, put, log } = sourceOn(three());
    for (const id of ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta']) {
      put(`operators/${id}.yaml`, `${operatorYaml(id)}\n${many(30, (n) => `odd${n}: 1`)}`);
    }
    await source.reload();
    const errors = log.filter(({ level }) => level === 'error');
    expect(errors).toHaveLength(101);
    expect(errors.at(-1)).toMatchObject({
      message: 'config.more_invalid',
      facts: { problems: 26 },
    });
  });

  it('names the line of a key that stands twice, at any depth', async () => {
    const { source, put } = sourceOn(three());
    const text = `${operatorYaml('beta')}\nsettle:\n  onFailure: error\n  onFailure: queue\n`;
    put('operators/beta.yaml', text);
    const line = text.split('\n').indexOf('  onFailure: queue') + 1;
    expect(linesOf(await source.reload())).toEqual([
      `operators/beta.yaml: line ${line}: the key stands here a second time: keep one of them`,
    ]);
  });
});
