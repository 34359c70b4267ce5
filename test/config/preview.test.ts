import { describe, expect, it, vi } from 'vitest';
import { FileReader } from '../../src/config/folder/files.ts';
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

  it('names the line of what is wrong, even if the text is no YAML', async () => {
    const { source, put } = sourceOn(three());
    put('operators/alpha.yaml', operatorYaml('alpha', 'status: asleep'));
    put('operators/beta.yaml', 'id: beta\nwallet: [\n');
    const { problems, result } = await source.preview();
    expect(result).toBe('invalid');
    const lines = await source.linesOf(problems);
    const lineOf = (file: string) => lines[problems.findIndex((one) => one.file === file)];
    expect(lineOf('operators/alpha.yaml')).toBe(10);
    expect(lineOf('operators/beta.yaml')).toBeGreaterThan(1);
  });

  it('reads a file once for the lines of all its problems (I7)', async () => {
    const { source, put } = sourceOn(three());
    const wrong = Array.from({ length: 20 }, (_, at) => `odd-${at}: 1`);
    put('operators/alpha.yaml', operatorYaml('alpha', wrong.join('\n')));
    const { problems } = await source.preview();
    const read = vi.spyOn(FileReader.prototype, 'read');
    const lines = await source.linesOf(problems);
    const reads = read.mock.calls.length;
    read.mockRestore();
    expect(lines).toEqual(wrong.map((_, at) => 10 + at));
    expect(reads).toBe(1);
  });

  it('is looked at without the watcher missing the change', async () => {
    const { source, put, changes } = sourceOn(three());
    put('operators/alpha.yaml', operatorYaml('alpha', 'status: suspended'));
    await source.preview();
    source.watch();
    await vi.waitFor(() => expect(changes).toHaveLength(1), { timeout: 10_000, interval: 50 });
    expect(source.current.operators.get('alpha')?.status).toBe('suspended');
  });
});
