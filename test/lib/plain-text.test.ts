import fc from 'fast-check';
import { expect, it } from 'vitest';
import { plain, plainJson, plainJsonLine } from '../../src/lib/plain-text.ts';

const BIDI =
  '\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}';
const UNSAFE = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

it('keeps a terminal from being moved about by what a wallet said', () => {
  expect(plain('a\r\n  b\n')).toBe('a b ');
  expect(plain('\u{1b}[2Jgone\u{9b}31m')).toBe('\u{fffd}[2Jgone\u{fffd}31m');
  expect(plain('Zoë 500 € שלום')).toBe('Zoë 500 € שלום');
});

it('looks at a run of spaces once, be a wallet’s page nothing else', () => {
  const page = `no${' '.repeat(200_000)}bet`;
  const before = process.cpuUsage();
  expect(plain(page)).toBe(page);
  // A pattern that searched for a line's end from each space on took half a minute.
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(1_000);
  const spaced = fc.array(fc.constantFrom(' ', '\t', '\r', '\n', 'x'));
  fc.assert(
    fc.property(spaced, (parts) => {
      const text = parts.join('').replaceAll('\t', ' ');
      expect(plain(text)).toBe(text.replaceAll(/\s*[\r\n]+\s*/g, ' '));
    }),
  );
});

it('keeps a line from being read in another order than it stands', () => {
  for (const mark of BIDI) expect(plain(`paid ${mark}001`)).toBe('paid \u{fffd}001');
});

it('writes JSON that a terminal may show and that says the very same', () => {
  const texts = fc.array(
    fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...BIDI, '\u{9b}')),
  );
  fc.assert(
    fc.property(texts, (value) => {
      const json = plainJson({ value });
      expect(JSON.parse(json)).toEqual({ value });
      expect(json.replaceAll('\n', '')).not.toMatch(UNSAFE);
      const line = plainJsonLine(`${JSON.stringify({ value })}\n`);
      expect(JSON.parse(line)).toEqual({ value });
      expect(line).not.toMatch(UNSAFE);
    }),
  );
});
