import { describe, expect, it } from 'vitest';
import { wantsCsv } from '../../src/books/statement-answer.ts';

describe('a statement', () => {
  it.each([
    'text/csv',
    'Text/CSV; charset=utf-8',
    'text/csv, application/json',
    'text/csv, */*',
    'text/csv;q=0.9, application/json;q=0.5',
    'application/json;q=0.5, text/csv',
    'application/json; Q=0.2, text/csv;header=present; q=0.3',
    'application/json;q=0, text/csv;q=0.1',
    'text/*, application/json;q=0.9',
  ])('is CSV for %s', (accept) => {
    expect(wantsCsv(accept)).toBe(true);
  });

  it.each([
    undefined,
    '',
    '*/*',
    'application/json',
    'application/json, text/csv',
    'text/csv;q=0.5, application/json',
    'text/csv;q=0.001, */*;q=0.002',
    'text/csv;q=0, application/json;q=0',
    'text/csv;q=0',
    'text/csv;q=0.0, */*',
    'application/json, text/plain, */*',
    'text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8',
    'image/png',
    // An invalid quality counts as a missing one.
    'application/json;q=0.9999, text/csv;q=1.5',
  ])('is JSON for %s', (accept) => {
    expect(wantsCsv(accept)).toBe(false);
  });
});
