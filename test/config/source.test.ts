import { describe, expect, it } from 'vitest';
import { ConfigurationSource } from '../../src/config/source.ts';
import { GATEWAY, operatorYaml, walletSecret } from './support/folder.ts';
import { linesOf, sourceOn, three } from './support/source-on.ts';

describe('the configuration in force', () => {
  it('begins without an operator whose file is invalid, and takes it once it is valid', async () => {
    const files = { ...three(), 'operators/beta.yaml': operatorYaml('beta', 'status: odd') };
    const { source, put, changes } = sourceOn(files);
    expect([...source.current.operators.keys()]).toEqual(['alpha', 'gamma']);
    expect(source.current.invalidOperators).toEqual(new Set(['beta']));
    expect(source.invalidFiles).toEqual(['operators/beta.yaml']);

    put('operators/beta.yaml', operatorYaml('beta'));
    expect((await source.reload()).changed.added).toEqual(['beta']);
    expect(source.current.invalidOperators).toEqual(new Set());
    expect(source.invalidFiles).toEqual([]);
    expect(changes).toHaveLength(1);

    put('operators/beta.yaml', 'id: [');
    await source.reload();
    expect(source.current.operators.has('beta')).toBe(true);
    expect(source.current.invalidOperators).toEqual(new Set());
    expect(source.invalidFiles).toEqual(['operators/beta.yaml']);
  });

  it('tells its listeners that an operator with an invalid file has lost it', async () => {
    const { source, changes, remove } = sourceOn({ ...three(), 'operators/beta.yaml': 'id: [' });
    remove('operators/beta.yaml');
    await source.reload();
    expect(source.current.invalidOperators).toEqual(new Set());
    expect(changes).toHaveLength(1);
  });

  it.each([
    ['cid', operatorYaml('beta').replace('beta-key', 'alpha-key'), 'api.cid'],
    [
      'secret',
      operatorYaml('beta').replace(walletSecret('beta'), walletSecret('alpha')),
      'wallet.secrets[0]',
    ],
  ])('begins with the first by name of two files that claim one %s', (_, beta, path) => {
    const { source, log } = sourceOn({ ...three(), 'operators/beta.yaml': beta });
    expect([...source.current.operators.keys()]).toEqual(['alpha', 'gamma']);
    expect(source.current.invalidOperators).toEqual(new Set(['beta']));
    expect(log).toContainEqual({
      level: 'error',
      message: 'config.invalid',
      facts: expect.objectContaining({ file: 'operators/beta.yaml', path }),
    });
  });

  it('does not start on an invalid gateway.yaml, naming every problem of every file', () => {
    const gateway = GATEWAY.replace('cid', 'cidd');
    const files = { ...three(), 'gateway.yaml': gateway, 'operators/beta.yaml': 'id: [' };
    expect(() => sourceOn(files)).toThrow(/gateway\.yaml: .*\noperators\/beta\.yaml: /s);
  });

  it('begins with what is in force at its parent if a file has become invalid by then', () => {
    const { source, folder, put } = sourceOn(three());
    put('operators/beta.yaml', operatorYaml('beta', 'status: odd'));
    put('operators/gamma.yaml', operatorYaml('gamma', 'status: maintenance'));
    const log: string[] = [];
    const say = (_: object, message: string) => log.push(message);
    const begun = new ConfigurationSource({
      ...{ folder, env: {}, logger: { info: say, warn: say, error: say } },
      // As it comes from the other process.
      lastGood: structuredClone(source.inForce),
    });
    const statuses = [...begun.current.operators].map(([id, { status }]) => [id, status]);
    expect(Object.fromEntries(statuses)).toEqual({
      ...{ alpha: 'active', beta: 'active', gamma: 'maintenance' },
    });
    expect(begun.invalidFiles).toEqual(['operators/beta.yaml']);
    expect(log).toEqual(['config.invalid']);
    expect(source.invalidFiles).toEqual([]);
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

  it('stays the same object when nothing changed, or only a comment', async () => {
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

  it('removes no operator when their folder cannot be listed', async () => {
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
    // Invalid: its last good version stays in force, with the gateway's current settings.
    put('operators/gamma.yaml', operatorYaml('gamma', 'status: odd'));
    const result = await source.reload();
    expect(result.changed).toMatchObject({ gateway: true, updated: ['alpha', 'gamma'] });
    const hours = [...source.current.operators.values()].map((it) => it.delivery.horizonHours);
    expect(hours).toEqual([5, 1, 5]);
  });

  it('reports an operator that a change of the gateway leaves at odds, and keeps it', async () => {
    const { source, put } = sourceOn({
      ...three(),
      'operators/beta.yaml': operatorYaml('beta', 'delivery: { minBackoffMs: 6000 }'),
    });
    const before = source.current.operators.get('beta');
    put(
      'gateway.yaml',
      `${GATEWAY}deadline: { totalMs: 3000 }\ndelivery: { maxBackoffMs: 5000 }\n`,
    );
    const result = await source.reload();
    expect(linesOf(result)).toEqual([
      'operators/beta.yaml: delivery.minBackoffMs: 6000 is above maxBackoffMs (5000): lower it, or raise maxBackoffMs',
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

  it('stay with their owner: the changed file is the invalid one', async () => {
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

  it('stay with their owner even if it has to fall back to its last good version', async () => {
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
