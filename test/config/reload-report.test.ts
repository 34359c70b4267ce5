import { describe, expect, it } from 'vitest';
import type { Configuration } from '../../src/config/schema/schema.ts';
import { operatorYaml } from './support/folder.ts';
import { linesOf, sourceOn, three } from './support/source-on.ts';

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
    expect(warnings.map(({ message, facts }) => [message, facts])).toEqual([
      [
        'config.wallet_moved',
        {
          operator: 'alpha',
          from: 'https://wallet.alpha.example/sportsbook',
          to: 'https://new.alpha.example/sportsbook',
          note: 'its bets are sent to another address from now on',
        },
      ],
      [
        'config.wallet_generation',
        {
          operator: 'alpha',
          from: 1,
          to: 2,
          note: 'operations of bets of an older generation are held until released',
        },
      ],
      [
        'config.operator_removed',
        { operator: 'gamma', note: 'all of its deliveries are held until its file returns' },
      ],
    ]);
    // Said once, not again with every later reload.
    put('operators/beta.yaml', operatorYaml('beta'));
    await source.reload();
    expect(log.filter(({ level }) => level === 'warn')).toHaveLength(3);
  });

  it('warns of a wallet generation that was lowered, whose newer bets are held', async () => {
    const { source, put, log } = sourceOn(three());
    put('operators/alpha.yaml', operatorYaml('alpha', '', '  generation: 2'));
    await source.reload();
    put('operators/alpha.yaml', operatorYaml('alpha'));
    await source.reload();
    const last = log.filter(({ level }) => level === 'warn').at(-1);
    expect(last?.message).toBe('config.wallet_generation_lowered');
    expect(last?.facts).toEqual({
      operator: 'alpha',
      from: 2,
      to: 1,
      note: 'operations of bets of the newer generation are held until released; once older bets are released to that generation, places are refused as well',
    });
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
    ['a word that takes every stand-in of a variable', `x: VARIABLE${'X'.repeat(60_000)}`, 'x: '],
    [
      'such a word beside many variables',
      `x: VARIABLE${'X'.repeat(3_000)}\ny: ${'${A}'.repeat(3_001)}`,
      '3000 lines or entries',
    ],
  ])(
    'with %s is refused at a glance, whatever parsing it would cost (I1)',
    async (_, text, why) => {
      const { source, put } = sourceOn(three());
      put('operators/beta.yaml', `${operatorYaml('beta')}\n${text}`);
      const before = process.cpuUsage();
      const result = await source.reload();
      const { user } = process.cpuUsage(before);
      expect(linesOf(result)).toEqual([expect.stringContaining(why)]);
      // It took from seconds to most of a minute; three good files take a few milliseconds.
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
      `operators/beta.yaml: line ${line}: the key is in this group twice: keep one of them`,
    ]);
  });
});
