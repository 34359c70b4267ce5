import { describe, expect, it } from 'vitest';
import { SecretMask, secretsOfRequest, withCodings } from '../../src/outbound/secret-mask.ts';
import { settingsMask, settingsSecrets } from '../../src/wallets/evidence.ts';
import type { WalletSettings } from '../../src/wallets/wallet-config.ts';
import { within } from '../fuzz/support/cost.ts';
import { partly } from '../support/partly.ts';

const TOKEN = 'operator-token-1234567890';
const SECRET = 'a wallet secret/with "odd" signs';
const JWS = 'eyJhbGciOiJIUzI1NiJ9..c2lnbmF0dXJlLW9mLXRoZS1ib2R5';
const redaction = new SecretMask([SECRET, JWS, TOKEN]);

const kept = (body: string | Buffer, limitBytes = 4096, isComplete = true) =>
  redaction.evidence(
    { contentType: 'text/plain', body: Buffer.from(body), isComplete },
    limitBytes,
  );
const textOf = (body: string, limitBytes?: number, isComplete?: boolean) =>
  kept(body, limitBytes, isComplete)?.body.toString();

describe('a token in base64, whose plus and slash are written in many ways', () => {
  const mask = new SecretMask(['q83v+EjRW/eJA+8BAg==']);

  it.each([
    ['q83v\\u002BEjRW/eJA\\u002B8BAg=='],
    ['q83v+EjRW\\/eJA+8BAg=='],
    ['q83v%2BEjRW%2FeJA%2B8BAg%3D%3D'],
    ['q83v%2bEjRW%2feJA%2b8BAg%3d%3d'],
  ])('is hidden as %s', (spelled) => {
    expect(mask.text(`"no session ${spelled} here"`)).toBe('"no session *** here"');
  });
});

describe('the stored part of an answer', () => {
  it('is its first bytes, and that there were more', () => {
    expect(kept('0123456789', 4)).toEqual({
      contentType: 'text/plain',
      body: Buffer.from('0123'),
      truncated: true,
    });
    expect(kept('0123', 4)).toMatchObject({ body: Buffer.from('0123'), truncated: false });
    expect(kept('0123', 4, false)).toMatchObject({ truncated: true });
  });

  it('is no more of a content type than names one: a head may have 16 KiB, at every place', () => {
    const contentType = `text/plain; why="${TOKEN} ${'x'.repeat(15_000)}"`;
    const evidence = redaction.evidence(
      { contentType, body: Buffer.from('0123'), isComplete: true },
      4096,
    );
    expect(evidence?.contentType).toMatch(/^text\/plain; why="\*\*\* x+$/);
    expect(evidence?.contentType).toHaveLength(255);
  });

  it('is nothing where 0 bytes are to be kept', () => {
    expect(kept('0123', 0)).toBeUndefined();
  });

  it('is every byte as it came, text or not', () => {
    const bytes = Buffer.from([0, 0xff, 0xfe, 0x80, 10, 13, 0xc3]);
    expect(kept(bytes)).toMatchObject({ body: bytes, truncated: false });
  });

  it.each([
    ['the token', `unknown ${TOKEN}!`],
    ['the signature', `bad ${JWS}`],
    ['the secret', `expected ${SECRET}`],
    ['the secret in JSON', JSON.stringify({ why: SECRET })],
    ['the secret in JSON in JSON', JSON.stringify({ why: `with \\"odd\\" ${SECRET}` })],
    ['the secret in an address', `/x?s=${encodeURIComponent(SECRET)}`],
    ['the secret as .NET writes JSON', '{"why":"a wallet secret/with \\u0022odd\\u0022 signs"}'],
    ['the secret in an address of .NET', '/x?s=a%20wallet%20secret%2fwith%20%22odd%22%20signs'],
    ['another signature', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.AAAAAAAAAAAAAAAAAAAAAAAA'],
    ['a new token', '{"token":"fresh-and-unheard-of"}'],
    ['a token of another name', '{"access_token": "fresh-and-unheard-of"}'],
    ['a token in an echoed request', '{"echo":"{\\"token\\":\\"fresh-and-unheard-of\\"}"}'],
    ['an echoed head', 'Authorization: Basic fresh-and-unheard-of\r\nx: y'],
  ])('never holds %s', (_, body) => {
    const text = textOf(body);
    expect(text).toContain('***');
    for (const secret of [TOKEN, JWS, SECRET, 'fresh-and-unheard-of', 'AAAAAAAA']) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(encodeURIComponent(secret));
    }
  });

  it('contains no part of a secret if the answer, or its stored part, is cut off', () => {
    for (let length = 4; length < TOKEN.length; length += 1) {
      const part = TOKEN.slice(0, length);
      expect(textOf(`token ${part}`, 4096, false)).toBe('token ***');
      expect(textOf(`${'x'.repeat(5_000)}${TOKEN}`, 5_000 + length)).not.toContain('oper');
      const far = `${'x'.repeat(4_096 + 4_096 - length)}${TOKEN}`;
      expect(textOf(far)).not.toContain('oper');
    }
  });

  it('masks a short secret only where it stands alone', () => {
    const short = new SecretMask(['ab1']);
    expect(short.text('{"t":"ab1","cab1":2}')).toBe('{"t":"***","cab1":2}');
  });

  it('takes the same time for a hostile answer', () => {
    within(2_000, () => {
      for (const unit of ['"token":"', '\\', '\\"', 'a.', 'x-sign:', '"token":"\\']) {
        kept(unit.repeat(70_000 / unit.length), 65_536);
      }
    });
  });
});

describe('a wallet that repeats itself', () => {
  const MANY = 69_000;
  it.each([
    ['backslashes behind a token’s name', `"token${'\\'.repeat(MANY)}`, true],
    ['backslashes in a token', `"token":"${'\\'.repeat(MANY)}`, true],
    ['backslashes and a word', `${'\\'.repeat(MANY)} token`, true],
    ['one long word before a signature', `${'a'.repeat(MANY)} ..${'a'.repeat(16)}`, true],
    ['one long word that breaks off', `${'a'.repeat(MANY)} `, false],
    ['words with points', `${'aaaaaaaaaa.'.repeat(MANY / 11)} ..${'a'.repeat(16)}`, false],
    ['blanks behind a header’s name', `x\ncookie${' '.repeat(MANY)}`, true],
  ])('costs its length and not its square: %s (I7)', (_, body, isComplete) => {
    within(1_000, () => {
      kept(body, 65_536, isComplete);
      redaction.text(body);
    });
  });

  it('is masked nevertheless', () => {
    expect(textOf(`"token":"fresh${'\\'.repeat(3)}"`)).toBe(`"token":"***${'\\'.repeat(3)}"`);
    expect(textOf('"token":"fresh\\nand more')).toBe('"token":"***');
    expect(textOf('"token":"a","b":"c"')).toBe('"token":"***","b":"c"');
    expect(textOf('x aaaaaaaaaa.b.cccccccccccccccc y')).toBe('x *** y');
    expect(textOf('x aaaaaaaaaa.bbb', 4096, false)).toBe('x ***');
  });
});

describe('what lets somebody in of a request', () => {
  it('is its signature and every token in its body', () => {
    const request = {
      method: 'POST',
      path: '/',
      headers: { 'x-sign-jws': JWS },
      body: Buffer.alloc(0),
      answerBytesMax: 1,
    } as const;
    const body = `{"token":"${TOKEN}","data":{"token" : "in\\u0031ner"}}`;
    expect(secretsOfRequest(request, body)).toEqual([
      JWS,
      'c2lnbmF0dXJlLW9mLXRoZS1ib2R5',
      TOKEN,
      'in1ner',
    ]);
  });
});

it('what lets somebody in of a wallet’s settings is its secrets and every header of its own', () => {
  const settings = partly<WalletSettings>({
    secrets: ['the-first', 'the-second'],
    dialect: { headers: { 'x-key': 'an-api-key' } },
  });
  expect(settingsSecrets(settings)).toEqual(['the-first', 'the-second', 'an-api-key']);
});

describe('a wallet that repeats what it was sent', () => {
  const SECRET_OF_WALLET = 'S3cret-of-the-wallet-1234567890';
  const KEY = 'k3y-of-the-wallet/7+';
  const settings = partly<WalletSettings>({
    secrets: [SECRET_OF_WALLET],
    dialect: {
      headers: {
        'x-brand': 'Alpha Casino',
        authorization: `Bearer ${KEY}`,
        'x-proxy': `Basic ${Buffer.from('ann:pass-word-of-ann').toString('base64')}`,
      },
    },
  });
  const encoded = (text: string, encoding: BufferEncoding) => Buffer.from(text).toString(encoding);

  it.each([
    ['in capitals', SECRET_OF_WALLET.toUpperCase()],
    ['in small letters', SECRET_OF_WALLET.toLowerCase()],
    ['in hex', encoded(SECRET_OF_WALLET, 'hex')],
    ['in hex of capitals', encoded(SECRET_OF_WALLET, 'hex').toUpperCase()],
    ['in base64', encoded(SECRET_OF_WALLET, 'base64')],
    ['in base64 of addresses', encoded(`${KEY}>?~`, 'base64url')],
    ['in base64 with a name before it', encoded(`me:${SECRET_OF_WALLET}`, 'base64')],
    ['in base64 with more before and behind it', encoded(`a:${SECRET_OF_WALLET}:b`, 'base64')],
    ['as a header’s key without its scheme', KEY],
    ['as the password of Basic', 'pass-word-of-ann'],
    ['as the pair of Basic', encoded('ann:pass-word-of-ann', 'base64')],
  ])('is not shown it %s', (_, told) => {
    const shown = settingsMask(settings).text(`why: ${told} is wrong`);
    expect(shown).toMatch(/^why: .{0,8}\*\*\*.{0,8} is wrong$/);
  });

  it('is shown in everything else that it says, and in what is no key', () => {
    const text = 'the Bearer of an alpha key has no Casino';
    expect(settingsMask(settings).text(text)).toBe(text);
    expect(withCodings('short')).toEqual(['short']);
  });

  it('is shown no part of it either, nor of what one call has, where its answer breaks off', () => {
    const mask = new SecretMask([TOKEN], settingsMask(settings));
    expect(mask.text(`expected ${SECRET_OF_WALLET.slice(0, 9)}`, false)).toBe('expected ***');
    expect(mask.text(`${SECRET_OF_WALLET} ${TOKEN.slice(0, 9)}`, false)).toBe('*** ***');
  });

  it('is not shown the rest of a token that holds the value of a header', () => {
    const token = 'Alpha Casino/7f3c9d21e8b04a56';
    const mask = new SecretMask([token, TOKEN], settingsMask(settings));
    expect(mask.text(`unknown: ${token}`)).toBe('unknown: ***');
    // And vice versa.
    const inside = new SecretMask([KEY.slice(0, 8)], settingsMask(settings));
    expect(inside.text(`${KEY} ${KEY.slice(0, 8)} Alpha Casino`)).toBe('*** *** ***');
  });

  it('has its mask made once', () => {
    expect(settingsMask(settings)).toBe(settingsMask(settings));
  });
});
