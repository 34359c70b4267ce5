import { describe, expect, it } from 'vitest';
import { blankTexts } from '../../src/protocol/blank-text.ts';

describe('a message of which a person is to be forgotten', () => {
  it('keeps its money to the letter, and no text but ids, times and kinds (I9)', () => {
    const message =
      '{"userId":"u-1","transactionId":"t \\"1\\"","type":2,"amount":12.10,"big":9007199254740993,' +
      '"resultType":"won","currency":"USD","token":"hash","customer":{"name":"Jane \\\\ Doe","ip":"192.0.2.7"},' +
      '"notes":["Jane",{"currency":"EUR"},"Doe"],"free":"call \\"Jane\\": now","metadata":[{"coefficient":1.50,"t":"x"}]}';
    expect(blankTexts(message)).toBe(
      '{"userId":"u-1","transactionId":"t \\"1\\"","type":2,"amount":12.10,"big":9007199254740993,' +
        '"resultType":"won","currency":"USD","token":"hash","customer":{"name":"***","ip":"***"},' +
        '"notes":["***",{"currency":"EUR"},"***"],"free":"***","metadata":[{"coefficient":1.50,"t":"***"}]}',
    );
  });

  it.each([
    ['a text in a list of a known member', '{"currency":["Jane"]}', '{"currency":["***"]}'],
    ['a text in an object of a known member', '{"userId":{"x":"Jane"}}', '{"userId":{"x":"***"}}'],
    ['an escaped member', '{"curr\\u0065ncy":"EUR"}', '{"curr\\u0065ncy":"EUR"}'],
    ['a colon in a text', '{"a":"Jane:","b":"Doe"}', '{"a":"***","b":"***"}'],
    ['what is no JSON', 'Jane', '***'],
    ['a text alone', '"Jane"', '"***"'],
  ])('is blanked: %s', (_, message, blanked) => {
    expect(blankTexts(message)).toBe(blanked);
  });

  it.each([
    ...['currency', 'gameType', 'requestId', 'resultType', 'subPartnerId', 'ticketType'],
    ...['token', 'transactionId', 'transactionTime', 'userId'],
  ])('keeps what tells which operation it was: %s', (member) => {
    expect(blankTexts(`{"${member}":"x","other":"Jane"}`)).toBe(`{"${member}":"x","other":"***"}`);
  });

  it('stays the same when it is blanked again', () => {
    const once = blankTexts('{"a":"Jane","currency":"USD"}');
    expect(blankTexts(once)).toBe(once);
  });
});
