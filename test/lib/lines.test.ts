import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Line, LineSplitter, readLines } from '../../src/lib/lines.ts';

async function linesOf(...chunks: readonly (string | Buffer)[]): Promise<Line[]> {
  async function* source() {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  const lines: Line[] = [];
  for await (const line of readLines(source())) lines.push(line);
  return lines;
}

describe('readLines', () => {
  it('numbers lines, whichever way they end, also the last without an end', async () => {
    expect(await linesOf('a\r\n\nb\nc')).toEqual([
      { number: 1, text: 'a' },
      { number: 2, text: '' },
      { number: 3, text: 'b' },
      { number: 4, text: 'c' },
    ]);
    expect(await linesOf('a\n')).toEqual([{ number: 1, text: 'a' }]);
    expect(await linesOf()).toEqual([]);
  });

  it('does not care where the chunks end, even within a character', async () => {
    const bytes = Buffer.from('\u{feff}für\r\nälter\n');
    const whole = await linesOf(bytes);
    expect(whole).toEqual([
      { number: 1, text: 'für' },
      { number: 2, text: 'älter' },
    ]);
    expect(await linesOf(...[...bytes].map((byte) => Buffer.from([byte])))).toEqual(whole);
  });

  it('gives up a line that is not UTF-8, and that line alone', async () => {
    expect(await linesOf('a\n', Buffer.from([0x62, 0xff, 0x0a]), 'c')).toEqual([
      { number: 1, text: 'a' },
      { number: 2, fault: 'is not UTF-8 text', latin1: 'bÿ' },
      { number: 3, text: 'c' },
    ]);
  });

  it('gives up a line without end before it fills the memory', async () => {
    const long = 'x'.repeat(40_000);
    expect(await linesOf(long, long, `${long}\nb\n`, long, long)).toEqual([
      { number: 1, fault: 'is longer than 65536 bytes', latin1: '' },
      { number: 2, text: 'b' },
      { number: 3, fault: 'is longer than 65536 bytes', latin1: '' },
    ]);
    expect(await linesOf('x'.repeat(70_000))).toEqual([
      { number: 1, fault: 'is longer than 65536 bytes', latin1: '' },
    ]);
  });

  it('holds no more of such a line than one may have', () => {
    const held = vi.spyOn(Buffer, 'concat');
    onTestFinished(() => held.mockRestore());
    const splitter = new LineSplitter();
    for (let chunks = 0; chunks < 20; chunks += 1) splitter.take(Buffer.alloc(40_000, 'x'));
    const lengths = held.mock.results.map(({ value }) => Buffer.from(value).length);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(65_536);
  });

  it('drops a byte order mark before the first line alone', async () => {
    expect(await linesOf('\u{feff}a\n\u{feff}b\n')).toEqual([
      { number: 1, text: 'a' },
      { number: 2, text: '\u{feff}b' },
    ]);
  });
});
