import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCsvLine } from '../../src/lib/csv.ts';

describe('parseCsvLine', () => {
  it.each<[string, readonly string[]]>([
    ['a,b,c', ['a', 'b', 'c']],
    ['', ['']],
    ['a,,', ['a', '', '']],
    ['"a,b","",c', ['a,b', '', 'c']],
    ['"say ""hi"""', ['say "hi"']],
    [' a , b', [' a ', ' b']],
    ['"a",', ['a', '']],
  ])('reads %j', (line, fields) => {
    expect(parseCsvLine(line)).toEqual(fields);
  });

  it.each(['"a', 'a"b', 'a,"b"c', '"a"" ,b', '"', 'a, "b"'])('refuses %j', (line) => {
    expect(parseCsvLine(line)).toBeUndefined();
  });

  it('reads back whatever was quoted', () => {
    const field = fc.string().filter((text) => !/[\r\n]/.test(text));
    fc.assert(
      fc.property(fc.array(field, { minLength: 1 }), (fields) => {
        const line = fields.map((text) => `"${text.replaceAll('"', '""')}"`).join(',');
        expect(parseCsvLine(line)).toEqual(fields);
      }),
    );
  });
});
