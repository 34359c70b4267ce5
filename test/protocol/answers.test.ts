import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  accepted,
  failure,
  isoTime,
  normaliseTransactionTime,
} from '../../src/protocol/answers.ts';

const FALLBACK_MS = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const FALLBACK = '2026-01-02T03:04:05.678Z';

describe('answers to the service', () => {
  it('accepts with the transaction as it was named and its time', () => {
    expect(accepted('a"\u00e9', '2021-03-05T11:08:00Z')).toEqual({
      status: 200,
      body: '{"transactionId":"a\\"\u00e9","transactionTime":"2021-03-05T11:08:00Z"}',
    });
  });

  it('fails with code and message, 400 unless told otherwise', () => {
    expect(failure(7, 'Not enough money')).toEqual({
      status: 400,
      body: '{"code":7,"message":"Not enough money"}',
    });
    expect(failure(100, 'System error', 503).status).toBe(503);
  });

  it('writes times as ISO 8601 UTC', () => {
    expect(isoTime(FALLBACK_MS)).toBe(FALLBACK);
  });
});

describe('the transaction time of a wallet', () => {
  it.each([
    ['in UTC', '2021-03-05T11:08:00Z', '2021-03-05T11:08:00Z'],
    ['in UTC with milliseconds', '2021-03-05T11:08:00.120Z', '2021-03-05T11:08:00.120Z'],
    ['in UTC with microseconds', '2021-03-05T11:08:00.123456Z', '2021-03-05T11:08:00.123456Z'],
    ['without a zone', '2021-03-05T11:08:00', '2021-03-05T11:08:00Z'],
    ['without a zone, with a fraction', '2021-03-05T11:08:00.5', '2021-03-05T11:08:00.5Z'],
    ['with an offset', '2021-03-05T11:08:00+03:00', '2021-03-05T08:08:00.000Z'],
    ['with an offset over midnight', '2021-03-05T22:08:00.25-03:30', '2021-03-06T01:38:00.250Z'],
    ['with an offset without colon', '2021-03-05T11:08:00+0530', '2021-03-05T05:38:00.000Z'],
    ['with an offset of hours', '2021-03-05T11:08:00-02', '2021-03-05T13:08:00.000Z'],
    ['with an offset of zero', '2021-03-05T11:08:00+00:00', '2021-03-05T11:08:00.000Z'],
    ['on a leap day', '2024-02-29T00:00:00Z', '2024-02-29T00:00:00Z'],
  ])('%s comes out in UTC', (_, given, expected) => {
    expect(normaliseTransactionTime(given, FALLBACK_MS)).toBe(expected);
  });

  it.each([
    ['missing', undefined],
    ['null', null],
    ['a number', 1614942480],
    ['an object', { date: '2021-03-05T11:08:00Z' }],
    ['empty', ''],
    ['with a blank', '2021-03-05 11:08:00'],
    ['a date only', '2021-03-05'],
    ['without seconds', '2021-03-05T11:08Z'],
    ['30 February', '2021-02-30T11:08:00Z'],
    ['29 February in a common year', '2023-02-29T11:08:00'],
    ['month 13', '2021-13-05T11:08:00Z'],
    ['hour 24', '2021-03-05T24:00:00Z'],
    ['second 60', '2016-12-31T23:59:60Z'],
    ['an offset of 25 hours', '2021-03-05T11:08:00+25:00'],
    ['before the year 0', '0000-01-01T00:00:00+01:00'],
    ['behind the year 9999', '9999-12-31T23:59:59-01:00'],
    ['with words behind', '2021-03-05T11:08:00Z\n'],
    ['with words before', 'x2021-03-05T11:08:00Z'],
    ['in other digits', '\u0662021-03-05T11:08:00Z'],
    ['endless', `2021-03-05T11:08:00.${'1'.repeat(1000)}Z`],
  ])('%s gives way to the fallback', (_, given) => {
    expect(normaliseTransactionTime(given, FALLBACK_MS)).toBe(FALLBACK);
  });

  it('keeps the instant, whatever its offset', () => {
    const minutes = fc.integer({ min: -23 * 60, max: 23 * 60 });
    const instant = fc.date({
      min: new Date('1971-01-01'),
      max: new Date('2100-01-01'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(instant, minutes, (date, offsetMinutes) => {
        const local = new Date(date.getTime() + offsetMinutes * 60_000).toISOString().slice(0, -1);
        const [hh, mm] = [Math.abs(offsetMinutes) / 60, Math.abs(offsetMinutes) % 60];
        const two = (n: number) => String(Math.trunc(n)).padStart(2, '0');
        const given = `${local}${offsetMinutes < 0 ? '-' : '+'}${two(hh)}:${two(mm)}`;
        expect(normaliseTransactionTime(given, FALLBACK_MS)).toBe(date.toISOString());
      }),
    );
  });
});
