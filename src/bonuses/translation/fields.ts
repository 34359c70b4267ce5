import { z } from 'zod';
import { operatorUser, readFields } from '../../operators/fields.ts';
import { signedMembers } from '../../operators/signed-members.ts';
import type { JsonDocument } from '../../protocol/json.ts';
import type { BonusResult } from '../outcome.ts';

/**
 * The members that the seven methods accept, checked before the service is called. No others: they would be
 * signed with the service's secret. Numbers are only checked; their exact text is sent on.
 */

const PLAYERS_MAX = 1000;
/** The protocol names no limit; each unknown id costs a call to the service. */
const REVOKED_MAX = 1000;
const LIST_MAX = 1000;

const whole = (min: number, max: number) =>
  z
    .int('must be a whole number')
    .min(min, `must be at least ${min}`)
    .max(max, `must be at most ${max}`);

/** An id of the service. */
const id = whole(0, Number.MAX_SAFE_INTEGER);
const time = whole(0, 32_503_680_000).describe('Unix time, in seconds');
/** Refuses `-0` too: as a double, `-1e-400` is a negative zero, and its text is what is sent on. */
const notNegative = z
  .number('must be a number')
  .min(0, 'must be at least 0')
  .refine((value) => !Object.is(value, -0), 'must be at least 0');
const text = (lengthMax: number) =>
  z
    .string('must be a string')
    .min(1, 'must not be empty')
    .max(lengthMax, `must be at most ${lengthMax} characters`);
const currency = z.string('must be a string').regex(/^\S{3,5}$/u, 'must have 3 to 5 characters');
const list = <T extends z.ZodType>(item: T) =>
  z.array(item, 'must be an array').max(LIST_MAX, `must have at most ${LIST_MAX} entries`);

const player = operatorUser.describe("The operator's id of the player");

const page = whole(1, 1_000_000).default(1).describe('From 1');

export const templatesFields = z.strictObject({ ...signedMembers, page });
export const templateFields = z.strictObject({ ...signedMembers, templateId: id });
export const playerBonusesFields = z.strictObject({ ...signedMembers, userId: player, page });
export const bonusFields = z.strictObject({ ...signedMembers, bonusId: id });

export const revokeBatchFields = z.strictObject({
  ...signedMembers,
  bonusesIds: z
    .array(id, 'must be an array')
    .min(1, 'must not be empty')
    .max(REVOKED_MAX, `must have at most ${REVOKED_MAX} entries`),
});

const countries = list(
  z.string('must be a string').regex(/^[A-Za-z]{2}$/, 'must be two letters (ISO 3166-1 alpha-2)'),
);

export const createTemplateFields = z
  .strictObject({
    ...signedMembers,
    name: text(255),
    type: z.literal('freebet_standart', 'must be freebet_standart'),
    enable: z.boolean('must be true or false').describe('Whether it may be issued'),
    betCount: whole(1, 1000).describe('Bonuses a player'),
    stage: whole(1, 3).describe('1 prematch, 2 live, 3 both'),
    fromTime: time,
    toTime: time,
    daysToUse: whole(1, 201),
    betAmount: notNegative,
    currency: currency.describe("One of the operator's currencies"),
    maxWin: notNegative.describe('In maxWinCurrency'),
    minSelection: whole(0, 1_000_000),
    maxSelection: whole(0, 1_000_000),
    minOdd: notNegative,
    maxOdd: notNegative,
    disciplines: list(text(255)).describe('Discipline ids'),
    maxWinCurrency: currency.optional().describe('Default: USD'),
    availableCountries: countries.nullish(),
    availableTournaments: list(text(255)).nullish().describe('Tournament ids'),
  })
  .superRefine(({ fromTime, toTime }, context) => {
    if (toTime >= fromTime) return;
    context.addIssue({ code: 'custom', path: ['toTime'], message: 'must not be before fromTime' });
  });

const playerData = z.strictObject({
  userId: player,
  currency: currency.describe("One of the operator's currencies"),
  betAmount: notNegative.describe('Freebet amount'),
  betCount: whole(1, 1000),
  forceActivated: z.boolean('must be true or false').optional().describe('true: active at once'),
});

export const applyBatchFields = z
  .strictObject({
    ...signedMembers,
    templateId: id,
    playersData: z
      .array(playerData, 'must be an array')
      .min(1, 'must not be empty')
      .max(PLAYERS_MAX, `must have at most ${PLAYERS_MAX} players`),
  })
  .superRefine(({ playersData }, context) => {
    const seen = new Set<string>();
    for (const [index, { userId }] of playersData.entries()) {
      if (seen.has(userId)) {
        const path = ['playersData', index, 'userId'];
        context.addIssue({ code: 'custom', path, message: 'is twice in this batch' });
        return;
      }
      seen.add(userId);
    }
  });

/** The request's members by a schema, or the 400 that names the first wrong one. */
export function fieldsOf<S extends z.ZodType>(
  schema: S,
  document: JsonDocument,
): { readonly fields: z.output<S> } | BonusResult {
  const read = readFields(schema, document);
  return 'fields' in read ? read : { answer: read, outcome: 'invalid' };
}
