import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { isAlive } from '../embedded/support/scratch.ts';
import { descendantsOf } from './support/descendants.ts';

it('finds children and their children, whatever they are called', async () => {
  const script =
    "const { spawn } = require('node:child_process');" +
    "spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { argv0: 'a) (b' });" +
    "console.log('up'); setInterval(() => {}, 1e6);";
  const parent = spawn('sh', ['-c', '"$0" -e "$1"; true', process.execPath, script], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(createInterface({ input: parent.stdout }), 'line');
  const found = await descendantsOf(parent.pid ?? 0);
  expect(found).toHaveLength(2);
  expect(found.filter(isAlive)).toEqual(found);
  for (const pid of found) process.kill(pid, 'SIGKILL');
  await once(parent, 'exit');
});

it('refuses to find nothing, which would be taken for the own process group', async () => {
  await expect(descendantsOf(2 ** 22 + 1)).rejects.toThrow('has no process below it');
});
