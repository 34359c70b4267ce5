import { RESULT_TYPES } from '../domain/bet.ts';
import { OPERATOR_USER } from '../domain/operator-user.ts';
import { type JsonSchema, ref, type Schemas } from './parts.ts';

/** The messages of the callbacks: checked members as the gateway checks them, others as the protocol describes them. */

const text = (minLength: number, maxLength: number, description: string): JsonSchema => ({
  type: 'string',
  minLength,
  maxLength,
  description,
});

const nullable = (schema: JsonSchema): JsonSchema => ({
  ...schema,
  type: [schema.type, 'null'],
});

const number = (description: string): JsonSchema => ({ type: 'number', minimum: 0, description });

/** A member that is never refused for its content, and says so at the end of its description. */
const passed = (type: string | readonly string[], description: string): JsonSchema => ({
  type,
  description: `${description}; passed on`,
});

const object = (
  description: string,
  required: readonly string[],
  properties: Readonly<Record<string, JsonSchema>>,
): JsonSchema => ({ type: 'object', description, required, properties });

const TOKEN = text(1, 256, "The session's token; of 10 to 64 characters, others are unknown");
const USER_ID = text(1, 64, "The aggregator's id of the player");
const CURRENCY = text(3, 5, 'The currency of the bet or account');
const REQUEST_ID = nullable({
  type: 'string',
  description: 'Names this request, for troubleshooting',
});

const MARKS: Readonly<Record<string, JsonSchema>> = {
  gameType: passed('string', 'sportsbook or turbogames'),
  ticketType: passed('string', 'single or express'),
  bonusId: passed(['integer', 'null'], 'The freebet bonus'),
  bonusTemplateId: passed(['integer', 'null'], "The freebet bonus's template"),
};

const TRANSACTION_ID = text(1, 64, 'The bet; opaque, compared exactly');

const named = (type: 1 | 2 | 3 | 5): JsonSchema => ({
  const: type,
  description: 'Names the operation, together with the method',
});

/** The members of every operation on a bet. */
const bet = (type: 1 | 2 | 3 | 5, amount: JsonSchema): Readonly<Record<string, JsonSchema>> => ({
  type: named(type),
  transactionId: TRANSACTION_ID,
  userId: USER_ID,
  amount,
  currency: nullable(CURRENCY),
  coefficient: nullable(number('Odds of the whole bet')),
  boosterCoefficient: nullable(number('Multiplier of an express bet')),
  bonusAmount: nullable(number('What of the stake comes from a bonus')),
  metadata: {
    type: ['array', 'null'],
    description: 'The outcomes; everything in them but the coefficient is only passed on',
    items: {
      type: 'object',
      properties: { coefficient: { type: ['number', 'null'], description: 'Odds of the outcome' } },
    },
  },
  requestId: REQUEST_ID,
  ...MARKS,
});

const FOLLOWING_TOKEN: JsonSchema = {
  type: ['string', 'null'],
  description: "The session's token, where the service sends one",
};

const place = object(
  'Place: a bet is made',
  ['type', 'transactionId', 'userId', 'token', 'amount', 'currency'],
  {
    ...bet(1, number('The stake; its exact text is kept')),
    token: TOKEN,
    currency: CURRENCY,
    subPartnerId: {
      type: ['string', 'null'],
      description: "Null, or the operator's own mark where it has one",
    },
    ip: passed(['string', 'null'], "The player's address"),
    info: passed(['string', 'null'], 'About the bet'),
  },
);

const settle = object(
  'Settle: a result is paid out; also again, with another amount',
  ['type', 'transactionId', 'userId', 'amount', 'resultType'],
  {
    ...bet(2, number('What the player receives; 0 for a lost bet')),
    resultType: { enum: RESULT_TYPES, description: 'Why it is paid' },
    token: nullable({
      type: 'string',
      description: "Needed for a cashout, which is the player's own wish",
    }),
  },
);

const unsettle = object('Unsettle: a result is undone', ['type', 'transactionId', 'userId'], {
  ...bet(1, number('The payout that is undone')),
  token: FOLLOWING_TOKEN,
});

/** A rollback or update is refused only for the members it needs, so only those have a type. */
const unrefused = (
  type: 3 | 5,
  descriptions: Readonly<Record<string, string>>,
): Readonly<Record<string, JsonSchema>> => {
  const members = { ...bet(type, number('The stake')), token: FOLLOWING_TOKEN };
  const untyped = Object.entries(members).map(
    ([name, { description }]) => [name, { description }] as const,
  );
  const others = Object.entries(descriptions).map(
    ([name, description]) => [name, { description }] as const,
  );
  const needed = { type: named(type), transactionId: TRANSACTION_ID };
  return { ...Object.fromEntries([...untyped, ...others]), ...needed };
};

const BY_JOURNAL = "The player; needed where the bet is not in the gateway's journal";

const rollback = object(
  'Rollback: a bet is cancelled',
  ['type', 'transactionId'],
  unrefused(3, {
    userId: BY_JOURNAL,
    amount: 'The stake that goes back; of a bet in the journal its own is sent',
    currency: 'The currency; of a bet in the journal its own is sent',
    errorCode: 'Why',
  }),
);

const update = object(
  'Bet data update: odds have changed, no money moves',
  ['type', 'transactionId'],
  unrefused(5, {
    userId: BY_JOURNAL,
    currency: 'The currency; of a bet in the journal its own is sent',
    subPartnerId: 'As in the place; passed on, whatever it is',
  }),
);

export const CALLBACK_SCHEMAS: Schemas = {
  ProfileRequest: object("Requests a player's profile", ['token'], {
    token: TOKEN,
    userId: { type: ['string', 'null'], description: 'Where one is sent, that of the token' },
    currency: { type: ['string', 'null'], description: 'Where one is sent, that of the token' },
    requestId: REQUEST_ID,
  }),
  Profile: object(
    "The wallet's profile, with the aggregator's id of the player and the operator's beside it",
    ['userId', 'currency', 'customFields'],
    {
      userId: USER_ID,
      currency: { type: 'string', description: 'The active currency: the one of the session' },
      // Client generators leave out a list without a type for its items.
      currencies: { ...passed('array', "The player's currencies"), items: { type: 'string' } },
      isTest: passed('boolean', 'Whether it is a test account'),
      customFields: object('More about the player, as the wallet gave it', ['operatorUser'], {
        operatorUser: {
          type: 'string',
          pattern: OPERATOR_USER.source,
          description: "The operator's id of the player",
        },
      }),
    },
  ),
  BalanceRequest: object("Requests a player's balance", ['token', 'userId', 'currency'], {
    token: TOKEN,
    userId: USER_ID,
    currency: CURRENCY,
    requestId: REQUEST_ID,
  }),
  Balance: object("The wallet's balance, with the aggregator's id of the player", ['userId'], {
    userId: USER_ID,
    currency: passed('string', 'The currency'),
    amount: passed('number', 'What the player has'),
  }),
  PlaceRequest: place,
  SettleRequest: settle,
  UnsettleRequest: unsettle,
  RollbackRequest: rollback,
  UpdateRequest: update,
  FollowUpRequest: {
    description: '`type` says which',
    oneOf: [
      ref('UnsettleRequest'),
      ref('SettleRequest'),
      ref('RollbackRequest'),
      ref('UpdateRequest'),
    ],
  },
  BetAnswer: object('The operation stands', ['transactionId', 'transactionTime'], {
    transactionId: { type: 'string', description: 'As the service sent it' },
    transactionTime: {
      type: 'string',
      format: 'date-time',
      description: "The wallet's time of it, ISO 8601 UTC",
    },
  }),
};
