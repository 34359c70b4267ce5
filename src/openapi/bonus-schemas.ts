import {
  applyBatchFields,
  bonusFields,
  createTemplateFields,
  playerBonusesFields,
  revokeBatchFields,
  templateFields,
  templatesFields,
} from '../bonuses/translation/fields.ts';
import { integerOrNull, requestSchema } from './operator-parts.ts';
import { type JsonSchema, ref, type Schemas } from './parts.ts';

/** The messages of the service's bonus API, as an operator sees them. */

const text: JsonSchema = { type: 'string' };
const integer: JsonSchema = { type: 'integer' };
const number: JsonSchema = { type: 'number' };
const texts: JsonSchema = { type: 'array', items: text };
const textsOrNull: JsonSchema = { type: ['array', 'null'], items: text };
const unixTime: JsonSchema = { ...integer, description: 'Unix time, in seconds' };

/** An answer of the service, which may have more members; the gateway passes them on. */
function passedOn(
  description: string,
  properties: Readonly<Record<string, JsonSchema>>,
): JsonSchema {
  return { type: 'object', description, properties };
}

const COMMON_FIELDS = {
  id: integer,
  name: text,
  type: { ...text, description: 'freebet_standart' },
  cid: { ...text, description: "The operator's key at this gateway" },
  stage: { ...integer, description: '1 prematch, 2 live, 3 both' },
  disciplines: texts,
  fromTime: unixTime,
  toTime: unixTime,
  availableCountries: textsOrNull,
  availableTournaments: textsOrNull,
} as const;

const TERMS = {
  betAmount: number,
  betCount: integer,
  maxWin: number,
  currency: text,
  minSelection: integer,
  maxSelection: integer,
  minOdd: number,
  maxOdd: number,
} as const;

const list = (schema: string): JsonSchema => ({
  type: 'object',
  required: ['items', 'metadata'],
  properties: { items: { type: 'array', items: ref(schema) }, metadata: ref('BonusPage') },
});

export const BONUS_SCHEMAS: Schemas = {
  TemplatesRequest: requestSchema(templatesFields),
  TemplateRequest: requestSchema(templateFields),
  CreateTemplateRequest: requestSchema(createTemplateFields),
  PlayerBonusesRequest: requestSchema(playerBonusesFields),
  BonusRequest: requestSchema(bonusFields),
  ApplyBatchRequest: requestSchema(applyBatchFields),
  RevokeBatchRequest: requestSchema(revokeBatchFields),
  BonusTemplate: passedOn('A bonus template', {
    ...COMMON_FIELDS,
    isEnable: { type: 'boolean', description: 'Whether it may be issued' },
    daysToUse: integer,
    freebetData: passedOn('Conditions', { ...TERMS, maxWinCurrency: text }),
  }),
  PlayerBonus: passedOn('A bonus of a player', {
    ...COMMON_FIELDS,
    templateId: integer,
    userId: { ...text, description: "The operator's id of the player" },
    activationDate: integerOrNull,
    endingDate: integerOrNull,
    status: { ...text, description: 'new, active, activated, expired, revoked or done' },
    freebetData: passedOn('Terms', { ...TERMS, availableBetCount: integer }),
  }),
  BonusPage: passedOn('Counts what the operator sees', {
    totalPages: integer,
    totalItems: integer,
    currentPage: integer,
    itemsPerPage: integer,
  }),
  BonusTemplates: list('BonusTemplate'),
  PlayerBonuses: list('PlayerBonus'),
  BonusBatch: {
    type: 'object',
    required: ['items', 'errorItems'],
    properties: {
      items: {
        type: 'object',
        description: 'By bonus id',
        additionalProperties: ref('PlayerBonus'),
      },
      errorItems: {
        type: 'array',
        description:
          "The shape is the service's own; those of the gateway are {bonusId, code, message}",
        items: { type: 'object' },
      },
    },
  },
};
