import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { readChunks } from '../../src/cli/input.ts';
import type { Terminal } from '../../src/cli/terminal.ts';
import { partly } from '../support/partly.ts';

const terminalWith = (stdin: Readable) =>
  partly<Terminal>({ stdin: Object.assign(stdin, { isTTY: false }) });

it('does not take for whole an input whose sender the same Ctrl-C has ended', async () => {
  const pressed = new AbortController();
  const stdin = Readable.from([Buffer.from('alpha,ann,4711\nalpha,bob,47')]);
  // Node shows the end of a pipe before a signal that came first.
  stdin.on('end', () => setImmediate(() => pressed.abort(new Error('pressed'))));
  const read: string[] = [];
  const reading = async () => {
    for await (const chunk of readChunks(terminalWith(stdin), '-', pressed.signal)) {
      read.push(chunk.toString());
    }
  };
  await expect(reading()).rejects.toThrow('pressed');
  expect(read).toEqual(['alpha,ann,4711\nalpha,bob,47']);
});
