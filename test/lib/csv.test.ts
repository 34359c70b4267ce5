import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvFields, SEPARATORS } from '../../src/lib/csv.ts';

describe('a record of CSV', () => {
  it.each<[string, readonly string[]]>([
    ['a,b,c', ['a', 'b', 'c']],
    ['', ['']],
    ['a,,', ['a', '', '']],
    ['"a,b","",c', ['a,b', '', 'c']],
    ['"say ""hi"""', ['say "hi"']],
    [' a , b', [' a ', ' b']],
    ['"a",', ['a', '']],
  ])('reads %j', (line, fields) => {
    expect(csvFields(line)).toEqual(fields);
  });

  it.each([
    ['"a', 'quote not closed'],
    ['"', 'quote not closed'],
    ['a,"b\nc', 'quote not closed'],
    ['a"b', 'misplaced quote'],
    ['a,"b"c', 'misplaced quote'],
    ['"a"" ,b', 'quote not closed'],
    ['a, "b"', 'misplaced quote'],
  ])('has none in %j: %s', (line, fault) => {
    expect(csvFields(line)).toBe(fault);
  });

  it.each(SEPARATORS)(
    'reads back whatever was quoted, and whatever needs no quotes: %j',
    (separator) => {
      const others = SEPARATORS.filter((one) => one !== separator).join('');
      const field = fc
        .string({ unit: fc.constantFrom(...'a "', ...SEPARATORS) })
        .map((text) => ({ text, quoted: `"${text.replaceAll('"', '""')}"` }));
      const bare = fc
        .string({ unit: fc.constantFrom(...'a ', ...others) })
        .map((text) => ({ text, quoted: text }));
      fc.assert(
        fc.property(fc.array(fc.oneof(field, bare), { minLength: 1 }), (fields) => {
          const line = fields.map(({ quoted }) => quoted).join(separator);
          expect(csvFields(line, separator)).toEqual(fields.map(({ text }) => text));
        }),
      );
    },
  );
});
