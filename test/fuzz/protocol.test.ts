import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { textFinder } from '../../src/protocol/json.ts';
import {
  type ParseResult,
  parseBalance,
  parseBet,
  parseProfile,
} from '../../src/protocol/messages.ts';
import { sign, signingKeys, verify } from '../../src/protocol/signature.ts';
import samples from '../fixtures/samples.json' with { type: 'json' };
import { within } from './support/cost.ts';
import { effort } from './support/effort.ts';
import { mutated, oddMember } from './support/mutations.ts';

/** The most that one message may cost, including a garbage collection: usually far below 1 ms. */
const MESSAGE_MS_MAX = 250;

const [KEY] = signingKeys(['a-secret-of-the-fuzz-test']);
if (KEY === undefined) throw new Error('one secret makes one key');
const KEYS = [KEY];

const PARSERS: readonly (readonly [object, (bytes: Buffer) => ParseResult<unknown>])[] = [
  [samples.userProfile.request, parseProfile],
  [samples.userBalance.request, parseBalance],
  [samples.placeBet.request, (bytes) => parseBet('POST', bytes)],
  ...[
    samples.betDataUpdate,
    samples.rollback,
    samples.settleWon,
    samples.settleLost,
    samples.settleRefund,
    samples.settleCashout,
    samples.unsettle,
  ].map(({ request }) => [request, (bytes: Buffer) => parseBet('PUT', bytes)] as const),
];
const TEXTS = PARSERS.map(([sample]) => JSON.stringify(sample));

const inTime = <T>(work: () => T): T => within(MESSAGE_MS_MAX, work);

describe('the header with the signature', () => {
  const body = Buffer.from(TEXTS[2] ?? '');
  const good = sign(body, KEY);
  const headers = ['{"alg":"none"}', '{"alg":"HS256","crit":["b64"],"b64":false}', '[]', '{"alg":'];

  it('is a verdict whatever it holds, and good only as it was made (I11)', () => {
    const forged = headers.map((text) => `${Buffer.from(text).toString('base64url')}..AAAA`);
    const words = ['.', '..', '=', '+', '/', 'eyJhbGciOiJub25lIn0'];
    const header = fc.oneof(
      mutated([good, ...forged], words).map((bytes) => bytes.toString('latin1')),
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.array(fc.constantFrom(good, ''), { maxLength: 3 }),
      fc.constant(undefined),
    );
    fc.assert(
      fc.property(header, (value) => {
        const { ok } = inTime(() => verify(value, body, KEYS));
        expect(ok).toBe(value === good);
      }),
      effort(800),
    );
  });

  it('is good for no other bytes than those that were signed', () => {
    fc.assert(
      fc.property(mutated(TEXTS), (other) => {
        expect(verify(good, other, KEYS).ok).toBe(other.equals(body));
        expect(verify(sign(other, KEY), other, KEYS).ok).toBe(true);
      }),
      effort(500),
    );
  });
});

describe('the bytes of a callback', () => {
  it('are a message or a reason, whatever they are, and in time', () => {
    fc.assert(
      fc.property(mutated(TEXTS), fc.nat(PARSERS.length - 1), (bytes, at) => {
        const result = inTime(() => PARSERS[at]?.[1](bytes));
        if (result?.ok === false) expect(result.why).not.toBe('');
      }),
      effort(3_000),
    );
  });

  it.each(PARSERS.map(([sample, parse], at) => ({ at, sample, parse })))(
    'name the odd member and no other (message $at)',
    ({ sample, parse }) => {
      fc.assert(
        fc.property(oddMember({ ...sample }), ({ name, body }) => {
          const result = inTime(() => parse(Buffer.from(body)));
          if (result.ok || result.field === undefined) return;
          // Below metadata the item is named, and with wrong nesting its position; never another member. With
          // another type the message is another one, which may require an additional member.
          const blamed = name === 'type' ? [name, 'resultType'] : [name];
          expect(blamed).toContain(result.field.split('.')[0]);
        }),
        effort(300),
      );
    },
  );
});

describe('a text looked for in unverified bytes', () => {
  const cidIn = textFinder('cid', 1_530);

  it.each(['"cid":', '"cid" ', '"cid":"', '"cid":"x\\', '\\"', '"cid":1,', '{'])(
    'is looked for in time in many %s (I11)',
    (piece) => {
      const bytes = Buffer.from(`{"a":"${piece.repeat(Math.floor(250_000 / piece.length))}`);
      inTime(() => cidIn(bytes));
      inTime(() => cidIn(Buffer.concat([bytes, Buffer.from(' '.repeat(10_000))])));
    },
  );
});
