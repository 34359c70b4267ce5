import { CODES, type KnownCode } from '../domain/codes.ts';
import {
  bodyTooLarge,
  content,
  type Endpoint,
  errors,
  type MessageExample,
  type Paths,
  type Response,
  SIGNED,
  success,
} from './parts.ts';

/** The four endpoints that the betting service calls (service protocol, Callbacks). */

const TRANSACTION_ID = 'b26153f9-ef3a-4768-b6c8-0861acdecb7a';
const TOKEN = '5caa4cabce523c2f7610c50ce9819bfb';
const REQUEST_ID = 'd9195aef-9492-43dd-88d0-dc1732a37f4e';

const BET = {
  transactionId: TRANSACTION_ID,
  userId: '1999',
  amount: 12.12,
  currency: 'USD',
  coefficient: 1.2,
  boosterCoefficient: 1,
  gameType: 'sportsbook',
  ticketType: 'single',
  bonusId: null,
  bonusTemplateId: null,
  requestId: REQUEST_ID,
};

const LEG = { discipline: 'Fifa', market: 'Match Winner', outcome: 'Club Black', coefficient: 1.2 };

const example = (summary: string, value: object): MessageExample => ({ summary, value });

const FORBIDDEN = errors(
  'The source address is not allowed',
  [CODES.blocked],
  'Source address not allowed',
);

const BODY_TOO_LARGE = bodyTooLarge(256 * 1024);

const UNAVAILABLE = errors('The wallet, or PostgreSQL, did not answer: retry', [CODES.system]);

/** An endpoint that reads a player's data; the two differ only in their texts. */
function reading(facts: {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly request: readonly [schema: string, value: object];
  readonly answer: readonly [schema: string, value: object];
}): Endpoint {
  const { operationId, summary, description, request, answer } = facts;
  return {
    operationId,
    tags: ['callbacks'],
    summary,
    description,
    parameters: SIGNED,
    requestBody: {
      required: true,
      content: content(request[0], { request: example(summary, request[1]) }),
    },
    responses: {
      200: success("The wallet's answer", answer[0], answer[1]),
      400: errors('Refused here, or by the wallet (its own code is passed on)', [
        CODES.badSignature,
        CODES.invalidToken,
        CODES.expiredToken,
        CODES.validation,
      ]),
      403: FORBIDDEN,
      413: BODY_TOO_LARGE,
      503: UNAVAILABLE,
    },
  };
}

const BET_ANSWER: Response = success('It stands', 'BetAnswer', {
  transactionId: TRANSACTION_ID,
  transactionTime: '2021-03-05T11:08:00.000Z',
});

const PLACE_CODES: readonly KnownCode[] = [
  CODES.badSignature,
  CODES.invalidToken,
  CODES.expiredToken,
  CODES.validation,
  CODES.notEnoughMoney,
  CODES.alreadyProcessed,
  CODES.blocked,
  CODES.stakeLimit,
  CODES.lossLimit,
  CODES.betCountLimit,
  CODES.selfExcluded,
  CODES.notVerified,
  CODES.underAge,
  CODES.system,
];

const place: Endpoint = {
  operationId: 'placeBet',
  tags: ['callbacks'],
  summary: 'Place bet',
  description:
    "Debits the stake at the wallet of the player's operator. A known `transactionId` is answered " +
    'from the journal and never sent again. Code 100 means that the outcome is unknown or that ' +
    'nothing was sent: the service rolls the bet back.',
  parameters: SIGNED,
  requestBody: {
    required: true,
    content: content('PlaceRequest', {
      place: example('A single bet', {
        type: 1,
        token: TOKEN,
        ...BET,
        subPartnerId: null,
        metadata: [LEG],
      }),
    }),
  },
  responses: {
    200: BET_ANSWER,
    400: errors(
      'Not placed: refused here, or by the wallet (its own code is passed on)',
      PLACE_CODES,
    ),
    403: FORBIDDEN,
    413: BODY_TOO_LARGE,
  },
};

const followUp: Endpoint = {
  operationId: 'changeBet',
  tags: ['callbacks'],
  summary: 'Unsettle, settle, rollback, bet data update',
  description:
    '`type` says which one: 1 unsettle, 2 settle, 3 rollback, 5 bet data update. It goes to ' +
    'the wallet that holds the bet. A rollback or an update that no wallet has confirmed in time is ' +
    'accepted as a delivery: committed, answered 200 and retried until the wallet confirms.',
  parameters: SIGNED,
  requestBody: {
    required: true,
    content: content('FollowUpRequest', {
      settle: example('Settle: won', { type: 2, ...BET, amount: 14.54, resultType: 'won' }),
      cashout: example('Settle: cashout', {
        type: 2,
        token: TOKEN,
        ...BET,
        amount: 10,
        resultType: 'cashout',
      }),
      unsettle: example('Unsettle', { type: 1, ...BET, amount: 14.54 }),
      rollback: example('Rollback', { type: 3, token: TOKEN, ...BET, errorCode: 50 }),
      update: example('Bet data update', { type: 5, token: TOKEN, ...BET, metadata: [LEG] }),
    }),
  },
  responses: {
    200: BET_ANSWER,
    400: errors('Refused here, or by the wallet (its own code is passed on)', [
      CODES.invalidToken,
      CODES.expiredToken,
      CODES.validation,
      CODES.alreadyProcessed,
      CODES.recalculationBlocked,
      CODES.recalculationUnaffordable,
    ]),
    401: errors('Not 400, so that the service tries again while a rotation of secrets settles', [
      CODES.badSignature,
    ]),
    403: FORBIDDEN,
    413: BODY_TOO_LARGE,
    503: UNAVAILABLE,
  },
};

export const CALLBACK_PATHS: Paths = {
  '/user/profile': {
    post: reading({
      operationId: 'userProfile',
      summary: 'User data',
      description: 'Sent when the frame loads. With prefixed sessions a player is first seen here.',
      request: ['ProfileRequest', { token: TOKEN, requestId: REQUEST_ID }],
      answer: [
        'Profile',
        {
          userId: '1999',
          currency: 'USD',
          currencies: ['USD', 'EUR'],
          isTest: false,
          customFields: { nickname: 'Mr', operatorUser: 'player-17' },
        },
      ],
    }),
  },
  '/user/balance': {
    post: reading({
      operationId: 'userBalance',
      summary: 'User balance',
      description: 'Polled while the frame is open: by far the most frequent call.',
      request: [
        'BalanceRequest',
        { userId: '1999', currency: 'USD', token: TOKEN, requestId: REQUEST_ID },
      ],
      answer: ['Balance', { userId: '1999', currency: 'USD', amount: 1290.1 }],
    }),
  },
  '/payment/bet': { post: place, put: followUp },
};
