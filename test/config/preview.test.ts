import { describe, expect, it, vi } from 'vitest';
import { operatorYaml } from './support/folder.ts';
import { sourceOn, three } from './support/source-on.ts';

describe('what a reload would change', () => {
  it('is reported and changes nothing: no listener is called, and the same objects stay in force', async () => {
    const { source, put, remove, reloads, changes } = sourceOn(three());
    const before = source.current;
    put('operators/alpha.yaml', operatorYaml('alpha', 'status: suspended'));
    put('operators/delta.yaml', operatorYaml('delta'));
    remove('operators/gamma.yaml');
    const { changed, candidate, result } = await source.preview();
    expect(result).toBe('ok');
    expect(changed).toEqual({
      gateway: false,
      added: ['delta'],
      updated: ['alpha'],
      removed: ['gamma'],
    });
    expect(candidate.operators.get('alpha')?.status).toBe('suspended');
    expect(source.current).toBe(before);
    expect([reloads, changes]).toEqual([[], []]);
    expect((await source.reload()).changed).toEqual(changed);
    expect((await source.preview()).changed).toMatchObject({ added: [], updated: [], removed: [] });
  });

  it('is looked at without the watcher missing the change', async () => {
    const { source, put, changes } = sourceOn(three());
    put('operators/alpha.yaml', operatorYaml('alpha', 'status: suspended'));
    await source.preview();
    source.watch();
    await vi.waitFor(() => expect(changes).toHaveLength(1), { timeout: 15_000, interval: 50 });
    expect(source.current.operators.get('alpha')?.status).toBe('suspended');
  });
});
