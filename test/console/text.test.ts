import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { known, parseSearch, searchText } from '../../src/console/app/search.ts';
import { curlOf } from '../../src/console/pages/bet/curl.ts';
import type { Message } from '../../src/console/pages/bet/sequence.ts';
import { indentedJson, membersOf } from '../../src/console/parts/exact-json.ts';
import { heightText } from '../../src/console/parts/height-text.ts';
import { agoText, spanText, utcText, zoneText } from '../../src/console/parts/times.ts';
import { visibleText } from '../../src/console/parts/visible.ts';

describe('text from outside', () => {
  it.each([
    ['user\u202Egnp.exe', 'user⟨U+202E⟩gnp.exe'],
    ['a\u0000b\u001b[31m', 'a⟨U+0000⟩b⟨U+001B⟩[31m'],
    ['zero\u200bwidth', 'zero⟨U+200B⟩width'],
    ['tag\u{e0041}', 'tag⟨U+E0041⟩'],
    ['half\ud800', 'half⟨U+D800⟩'],
    ['two\nlines\tand a tab', 'two\nlines\tand a tab'],
    ['Zoë ✓ 日本 👩‍👩 ❤️', 'Zoë ✓ 日本 👩⟨U+200D⟩👩 ❤️'],
    ['bet-1\u3164', 'bet-1⟨U+3164⟩'],
    ['a\u115f\uffa0\u034f\u2800b', 'a⟨U+115F⟩⟨U+FFA0⟩⟨U+034F⟩⟨U+2800⟩b'],
    ['supplement\u{e0100}', 'supplement⟨U+E0100⟩'],
    ['lines\u2028and\u2029marks\u061c\ufffb', 'lines⟨U+2028⟩and⟨U+2029⟩marks⟨U+061C⟩⟨U+FFFB⟩'],
  ])('%j hides nothing', (text, shown) => {
    expect(visibleText(text)).toBe(shown);
  });
});

describe('a number beside a chart', () => {
  it.each([
    [0, '0'],
    [0.5, '0.5'],
    [250, '250'],
    [12_500_000, '12.5M'],
    [-112_500_000, '-112.5M'],
    [5e15, '5.0e15'],
    [-2.5e120, '-2.5e120'],
  ])('%s is short enough to be read whole', (height, shown) => {
    expect(heightText(height)).toBe(shown);
  });

  it('has the amounts’ own decimal point, whatever the reader’s language is', async () => {
    const module = new URL('../../src/console/parts/height-text.ts', import.meta.url).href;
    const script = `import { heightText } from ${JSON.stringify(module)};
      console.log(new Intl.NumberFormat().resolvedOptions().locale, heightText(0.5), heightText(12_345));`;
    const env = { ...process.env, LC_ALL: 'de_DE.UTF-8' };
    const args = ['--input-type=module', '--eval', script];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env });
    // In German the second would be 12.345: beside amounts such as 12.50 it reads as twelve.
    expect(stdout.trim()).toBe('de-DE 0.5 12.35K');
  });
});

describe('JSON as it was sent', () => {
  it('is indented without a change to a number, a name or an escape', () => {
    const text = '{"amount":12.10,"big":9007199254740993,"a":{"b":[1e2,{}]},"t":"\\u202e,{:}"}';
    const shown = indentedJson(text);
    expect(shown.replaceAll(/\n\s*|(?<=":) /g, '')).toBe(text);
    expect(shown).toContain('"amount": 12.10,\n  "big": 9007199254740993');
  });

  it('keeps the blanks within its texts, also between what looks like an empty object or list', () => {
    const text = '{"message":"[  ] not { } done","list":[ ],"object":{ }}';
    const shown = '{\n  "message": "[  ] not { } done",\n  "list": [],\n  "object": {}\n}';
    expect(indentedJson(text)).toBe(shown);
  });

  it.each(['', '<h1>Bad Gateway</h1>', '{"a":', '"text'])('%j is no JSON and stays', (text) => {
    expect(indentedJson(text)).toBe(text);
  });

  it('gives a number with its exact digits, never through a float (I9)', () => {
    const text = '{"amount":12.10,"big":9007199254740993,"resultType":"won","nested":{"a":1}}';
    expect(membersOf(text)).toEqual({
      amount: '12.10',
      big: '9007199254740993',
      resultType: 'won',
    });
    expect(membersOf('not shown: not JSON')).toEqual({});
  });
});

describe('a message as curl', () => {
  const message: Message = {
    key: '1',
    at: '2026-01-01T00:00:00.000Z',
    from: 'service',
    to: 'gateway',
    label: 'place',
    tone: 'info',
    body: '{"token":"***"}',
    truncated: false,
    about: '',
    operation: 'place',
  };

  it('cannot be broken out of, and acts on no terminal (I8)', () => {
    const curl = curlOf({ ...message, body: `{"a":"'; rm -rf / #\u001b]0;x\u202e"}` }) ?? '';
    expect(curl).toContain(`'{"a":"'\\''; rm -rf / #\\u001b]0;x\\u202e"}'`);
    expect(curl).toContain('"x-sign-jws: $SIGNATURE"');
  });

  it('names the player to a wallet as the wallet knows it, and nobody else', () => {
    const body = '{"userId" : "7f0c","token":"***","of":{"userId":"x"},"amount":12.10}';
    const player = { kept: '7f0c', sent: 'anna' };
    expect(curlOf({ ...message, to: 'wallet', body, player })).toContain(
      `'{"userId" : "anna","token":"***","of":{"userId":"x"},"amount":12.10}'`,
    );
    expect(curlOf({ ...message, body })).toContain(`'${body}'`);
  });

  it('is there for requests alone', () => {
    expect(curlOf({ ...message, operation: undefined })).toBeUndefined();
    expect(curlOf({ ...message, body: null })).toBeUndefined();
  });
});

describe('an address', () => {
  it('keeps an id of digits as text', () => {
    expect(parseSearch('?find=9007199254740993')).toEqual({ find: '9007199254740993' });
    expect(searchText({ find: '9007199254740993', none: '' })).toBe('?find=9007199254740993');
    expect(known('find')({ find: 'a', other: 'b', __proto__: 'c' })).toEqual({ find: 'a' });
  });
});

describe('times', () => {
  it.each([
    [40, '40 ms'],
    [1_500, '1.5 s'],
    [59_000, '59 s'],
    [7_500_000, '2 h 5 min'],
    [97_200_000, '1 d 3 h'],
  ])('%d ms are %s', (ms, text) => {
    expect(spanText(ms)).toBe(text);
  });

  it('are told from now, and in UTC', () => {
    expect(agoText(0, 5_000)).toBe('5.0 s ago');
    expect(agoText(65_000, 5_000)).toBe('in 1 min');
    expect(utcText('2026-11-21T14:03:22.123Z')).toBe('2026-11-21 14:03:22.123 UTC');
    expect(zoneText('2026-07-14T18:30:00.000Z', 'Asia/Kolkata')).toMatch(/15.*00:00:00$/);
    expect(zoneText('2026-07-14T18:30:00.000Z', 'Mars/Olympus')).toBe(
      '2026-07-14 18:30:00.000 UTC',
    );
  });
});
