import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { compactVerify, FlattenedSign, flattenedVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { type SigningKey, sign, signingKeys, verify } from '../../src/protocol/signature.ts';
import fixture from '../fixtures/vectors.json' with { type: 'json' };

const SECRET = 'a shared secret of two parties!!';
const BODY = Buffer.from('{"transactionId":"b26153f9","amount":12.10}');
const [KEY] = signingKeys([SECRET]);
if (KEY === undefined) throw new Error('one secret makes one key');

/** Any header text, validly signed: what a hostile or sloppy sender could produce. */
function signedWith(headerText: string, body: Buffer = BODY, secret: string = SECRET): string {
  const header = Buffer.from(headerText).toString('base64url');
  return `${header}..${macOf(header, body, secret)}`;
}

function macOf(header: string, body: Buffer, secret: string): string {
  const input = `${header}.${body.toString('base64url')}`;
  return createHmac('sha256', secret).update(input).digest('base64url');
}

function verdict(header: string | readonly string[] | undefined, keys: readonly SigningKey[]) {
  const result = verify(header, BODY, keys);
  return result.ok ? 'ok' : result.reason;
}

describe('the published and computed vectors', () => {
  const unverifiable = ['request-signing-intro', 'request-signing-example'];
  const verifiable = fixture.vectors.filter(({ expect }) => expect !== 'unverifiable');

  it('leaves out only those that were printed without a body', () => {
    const left = fixture.vectors.filter((vector) => !verifiable.includes(vector));
    expect(left.map(({ id }) => id)).toEqual(unverifiable);
  });

  it.each(verifiable)('$id is $expect', ({ secret, header, body, expect: expected }) => {
    if (secret === undefined || body === null) throw new Error('the vector is incomplete');
    const result = verify(header, Buffer.from(body), signingKeys([secret]));
    expect(result).toEqual(expected === 'valid' ? { ok: true } : { ok: false, reason: 'mismatch' });
  });
});

describe('signing', () => {
  it('sends the algorithm first, no further members and no payload', () => {
    const [header, payload] = sign(BODY, KEY).split('.');
    expect(Buffer.from(header ?? '', 'base64url').toString()).toBe('{"alg":"HS256","typ":"JWT"}');
    expect(payload).toBe('');
  });

  it('makes what jose verifies, over text as over bytes', async () => {
    const body = fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.string({ unit: 'grapheme' }));
    await fc.assert(
      fc.asyncProperty(body, async (content) => {
        const bytes = Buffer.from(content);
        const [header = '', , signature = ''] = sign(
          typeof content === 'string' ? content : bytes,
          KEY,
        ).split('.');
        const jws = { protected: header, payload: bytes.toString('base64url'), signature };
        const { payload } = await flattenedVerify(jws, Buffer.from(SECRET));
        expect(Buffer.from(payload)).toEqual(bytes);
      }),
    );
  });

  it('refuses an empty secret, with which everybody could sign', () => {
    expect(() => signingKeys(['good', ''])).toThrow(RangeError);
  });
});

describe('verifying', () => {
  it('takes what jose signs', async () => {
    const jws = await new FlattenedSign(BODY)
      .setProtectedHeader({ alg: 'HS256', kid: '1' })
      .sign(Buffer.from(SECRET));
    expect(verdict(`${jws.protected}..${jws.signature}`, [KEY])).toBe('ok');
  });

  it('agrees with jose on any header, body and tampering', async () => {
    const members = fc.shuffledSubarray(
      [
        ['typ', 'JWT'],
        ['kid', '1'],
        ['cty', 'json'],
        ['jku', 'https://example.com'],
      ],
      { minLength: 0 },
    );
    const headerText = fc
      .tuple(
        fc.oneof(
          { weight: 4, arbitrary: fc.constant<unknown>('HS256') },
          { weight: 1, arbitrary: fc.constantFrom<unknown>('none', 'hs256', 'HS512', 'RS256', 7) },
        ),
        members,
        fc.nat(4),
        fc.constantFrom(undefined, undefined, undefined, 2),
        rarely(fc.constant<unknown>(['exp'])),
      )
      .map(([alg, others, at, indent, crit]) => {
        const entries: [string, unknown][] = others.map(([name = '', value]) => [name, value]);
        entries.splice(at, 0, ['alg', alg]);
        if (crit !== null) entries.push(['crit', crit], ['exp', 1]);
        return JSON.stringify(Object.fromEntries(entries), null, indent);
      });
    const scenario = fc.record({
      header: fc.oneof({ weight: 5, arbitrary: headerText }, { weight: 1, arbitrary: fc.json() }),
      body: fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)),
      secret: fc.constantFrom(SECRET, SECRET, SECRET, 'another secret, just as long as it'),
      flipped: rarely(fc.nat(31)),
    });
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(scenario, async ({ header, body, secret, flipped }) => {
        const encoded = Buffer.from(header).toString('base64url');
        const mac = Buffer.from(macOf(encoded, body, secret), 'base64url');
        if (flipped !== null) mac.writeUInt8(mac.readUInt8(flipped) ^ 1, flipped);
        const signature = mac.toString('base64url');
        const ours = verify(`${encoded}..${signature}`, body, [KEY]).ok;
        const attached = `${encoded}.${body.toString('base64url')}.${signature}`;
        expect(ours).toBe(await joseAccepts(attached));
        if (ours) accepted += 1;
      }),
      { numRuns: 500 },
    );
    expect(accepted).toBeGreaterThan(50);
  });

  it('takes the signature of any of several secrets', () => {
    const keys = signingKeys(['new', SECRET, 'old']);
    for (const secret of ['new', SECRET, 'old']) {
      expect(verdict(signedWith('{"alg":"HS256"}', BODY, secret), keys)).toBe('ok');
    }
    expect(verdict(signedWith('{"alg":"HS256"}', BODY, 'older'), keys)).toBe('mismatch');
    expect(verdict(sign(BODY, KEY), [])).toBe('mismatch');
  });

  it('is over the bytes as received, not over what they mean (I9)', () => {
    const spaced = Buffer.from('{"transactionId":"b26153f9", "amount":12.1}');
    expect(verify(sign(BODY, KEY), spaced, [KEY])).toEqual({ ok: false, reason: 'mismatch' });
  });

  it('says when there is no signature at all', () => {
    expect(verdict(undefined, [KEY])).toBe('missing');
  });

  it.each([
    ['{"alg":"none"}', 'algorithm'],
    ['{"alg":"HS512"}', 'algorithm'],
    ['{"alg":"hs256"}', 'algorithm'],
    ['{"alg":["HS256"]}', 'algorithm'],
    ['{"typ":"JWT"}', 'algorithm'],
    ['{"__proto__":{"alg":"HS256"}}', 'algorithm'],
    ['{"alg":"HS256","crit":["b64"],"b64":false}', 'crit'],
    ['{"alg":"HS256","crit":[]}', 'crit'],
    ['{"alg":"HS256","b64":true}', 'crit'],
    ['{"alg":"HS256","alg":"HS256"}', 'malformed'],
    ['["HS256"]', 'malformed'],
    ['"HS256"', 'malformed'],
    ['{"alg":"HS256"', 'malformed'],
    ['', 'malformed'],
  ])('refuses the header %s, rightly signed', (headerText, reason) => {
    expect(verdict(signedWith(headerText), [KEY])).toBe(reason);
  });

  it('refuses every spelling but header, two dots, signature', () => {
    const good = sign(BODY, KEY);
    const [header = '', , signature = ''] = good.split('.');
    const spellings = [
      '',
      '..',
      header,
      `${header}.${signature}`,
      `${header}..`,
      `..${signature}`,
      `${header}.${BODY.toString('base64url')}.${signature}`,
      `${header}...${signature}`,
      `.${good}`,
      `${good}.`,
      `${good}..`,
      `${good}=`,
      `${good} `,
      ` ${good}`,
      `${header}=..${signature}`,
      `${good}A`,
      good.slice(0, -1),
      `${good}, ${good}`,
      `${header}..${signature.slice(0, -1)}+`,
      `${header}..${Buffer.alloc(31).toString('base64url')}`,
      `${header}..${Buffer.alloc(64).toString('base64url')}`,
      `${header}..${'\u00e9'.repeat(43)}`,
    ];
    for (const spelling of spellings) {
      expect(verdict(spelling, [KEY]), spelling).toBe('malformed');
    }
    expect(verdict([good], [KEY])).toBe('malformed');
    expect(verdict([good, good], [KEY])).toBe('malformed');
    expect(verdict(good, [KEY])).toBe('ok');
  });

  it('takes one spelling of a signature only: no bits behind the last byte', () => {
    const good = sign(BODY, KEY);
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const accepted = [...alphabet].filter(
      (last) => verdict(good.slice(0, -1) + last, [KEY]) === 'ok',
    );
    expect(accepted).toEqual([good.at(-1)]);
  });
});

function rarely<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });
}

async function joseAccepts(jws: string): Promise<boolean> {
  try {
    await compactVerify(jws, Buffer.from(SECRET), { algorithms: ['HS256'] });
    return true;
  } catch {
    return false;
  }
}
