import { readdir, readFile } from 'node:fs/promises';

/**
 * Every process below this one, from `/proc`, because a small machine has no `ps`.
 *
 * @throws Error if there is none: a signal to process 0 would go to the tests themselves
 */
export async function descendantsOf(pid: number): Promise<[number, ...number[]]> {
  const children = new Map<number, number[]>();
  for (const { child, parent } of await processes()) {
    children.set(parent, [...(children.get(parent) ?? []), child]);
  }
  const below = (parent: number): number[] =>
    (children.get(parent) ?? []).flatMap((child) => [child, ...below(child)]);
  const [first, ...others] = below(pid);
  if (first === undefined) throw new Error(`the process ${pid} has no process below it`);
  return [first, ...others];
}

async function processes(): Promise<{ child: number; parent: number }[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (name) => {
      // The process has ended meanwhile.
      const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
      // `123 (any name, (brackets) too) S 45 …`
      const [, parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return { child: Number(name), parent: Number(parent) };
    }),
  );
  return found.filter(({ parent }) => parent > 0);
}
