import { describe, expect, it } from 'vitest';
import { CALLBACK_SCHEMAS } from '../../src/openapi/callback-schemas.ts';
import { parseBalance, parseBet, parseProfile } from '../../src/protocol/messages.ts';
import samples from '../fixtures/samples.json' with { type: 'json' };
import { faultsAs } from './support/schemas.ts';

/** Values on both sides of every bound of any member. */
const VALUES: readonly unknown[] = [
  null,
  true,
  '',
  'x',
  'xyz',
  'x'.repeat(5),
  'x'.repeat(6),
  'x'.repeat(64),
  'x'.repeat(65),
  'x'.repeat(256),
  'x'.repeat(257),
  'won',
  -1,
  -0.5,
  0,
  1,
  2,
  3,
  4,
  5,
  12.1,
  '12.1',
  [],
  [{}],
  [1],
  [{ coefficient: null }],
  [{ coefficient: 1.5 }],
  [{ coefficient: '1.5' }],
  {},
];

type Message = Readonly<Record<string, unknown>>;

const put = (bytes: Buffer) => parseBet('PUT', bytes).ok;
const CASES: readonly [string, Message, (bytes: Buffer) => boolean][] = [
  ['ProfileRequest', samples.userProfile.request, (bytes) => parseProfile(bytes).ok],
  ['BalanceRequest', samples.userBalance.request, (bytes) => parseBalance(bytes).ok],
  ['PlaceRequest', samples.placeBet.request, (bytes) => parseBet('POST', bytes).ok],
  ['FollowUpRequest', samples.settleWon.request, put],
  ['FollowUpRequest', samples.settleCashout.request, put],
  ['FollowUpRequest', samples.unsettle.request, put],
  ['FollowUpRequest', samples.rollback.request, put],
  ['FollowUpRequest', samples.betDataUpdate.request, put],
];

/** Every member that the document describes, so that a new one is compared although no sample carries it. */
const DESCRIBED = Object.entries(CALLBACK_SCHEMAS)
  .filter(([schema]) => schema.endsWith('Request'))
  .flatMap(([, { properties }]) => Object.entries(properties ?? {}));

/** Members that are only passed on: described as in the protocol, and never refused for their content. */
const PASSED_ON = new Set(
  DESCRIBED.flatMap(([name, { description }]) =>
    String(description).endsWith('; passed on') ? [name] : [],
  ),
);

/** The message without each of its members, and with each described one (and another) set to each value. */
function variants(message: Message): { readonly what: string; readonly message: Message }[] {
  const names = [
    ...new Set([...Object.keys(message), ...DESCRIBED.map(([name]) => name), 'other']),
  ];
  return names
    .filter((name) => !PASSED_ON.has(name))
    .flatMap((name) => {
      const { [name]: _, ...without } = message;
      return [
        { what: `without ${name}`, message: without },
        ...VALUES.map((value) => ({
          what: `${name} ${JSON.stringify(value)}`,
          message: { ...without, [name]: value },
        })),
      ];
    });
}

describe('the document and the gateway', () => {
  it.each(CASES)('take and refuse the same messages: %s', (schema, message, isTaken) => {
    expect(isTaken(Buffer.from(JSON.stringify(message)))).toBe(true);
    expect(faultsAs(schema, message)).toEqual([]);
    const disagreements = variants(message).filter((variant) => {
      const documented = faultsAs(schema, variant.message).length === 0;
      return documented !== isTaken(Buffer.from(JSON.stringify(variant.message)));
    });
    expect(disagreements.map(({ what }) => what)).toEqual([]);
  });
});
