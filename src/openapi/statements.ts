import { CODES } from '../domain/codes.ts';
import { statementFields } from '../operators/statements.ts';
import { answerSchema, anyText, endpoint, requestSchema, time } from './operator-parts.ts';
import {
  errors,
  type JsonSchema,
  type Paths,
  type Response,
  type Schemas,
  success,
} from './parts.ts';

/** The answers about a closed day. */

const amount: JsonSchema = { type: 'string', description: 'Decimal text' };
const count: JsonSchema = { type: 'integer', minimum: 0 };
const day: JsonSchema = { type: 'string', format: 'date' };

const totals = answerSchema('The sums of one currency; all but `net` are not negative', {
  currency: anyText,
  bets: { ...count, description: 'Stakes taken, freebets included' },
  stakes: { ...amount, description: 'Taken, without freebets' },
  payouts: { ...amount, description: 'Paid as results' },
  payoutReversals: { ...amount, description: 'Taken back of results' },
  stakeReturns: { ...amount, description: 'Given back by rollbacks, without freebets' },
  net: {
    ...amount,
    description: 'What the operator keeps: stakes - stakeReturns - payouts + payoutReversals',
  },
  freebetStakes: { ...amount, description: 'Taken of freebets' },
  openBets: { ...count, description: "Waiting for their result at the day's end" },
  openStakes: { ...amount, description: 'Of these, without freebets' },
  unresolved: { ...count, description: 'Of which the wallet has not confirmed what it holds' },
});

const open = answerSchema('An operation that was open when the day was closed', {
  transactionId: anyText,
  operation: anyText,
  why: { ...anyText, description: 'In words' },
  since: time,
});

export const STATEMENT_SCHEMAS: Schemas = {
  StatementRequest: requestSchema(statementFields),
  Statement: answerSchema('A closed day: it never changes', {
    operator: anyText,
    day,
    timeZone: { ...anyText, description: 'Of the day, by its IANA name' },
    startsAt: time,
    endsAt: time,
    closedAt: time,
    movements: { ...count, description: 'Lines of its CSV, without the first' },
    sha256: { ...anyText, description: 'Of its CSV, hexadecimal' },
    totals: { type: 'array', items: totals },
    openCount: { ...count, description: 'What was open when it was closed' },
    open: { type: 'array', items: open, description: 'The oldest thousand of it' },
  }),
};

/** A statement, or its movements as CSV; the header is the same for both. */
function withCsv(description: string, schema: string, value: object): Response {
  const asJson = success(description, schema, value);
  return {
    ...asJson,
    headers: {
      digest: {
        description: '`sha-256=` and the Base64 of the SHA-256 of the CSV',
        schema: anyText,
      },
    },
    content: {
      ...asJson.content,
      'text/csv': { schema: { ...anyText, description: 'A line of names, then one a movement' } },
    },
  };
}

export const STATEMENT_PATHS: Paths = {
  '/operator/statements': {
    post: endpoint({
      operationId: 'findStatement',
      summary: 'Read a statement',
      description:
        'What your wallet has confirmed on a closed day. With `Accept: text/csv` its movements, one ' +
        'a line; the header `digest` is of exactly these bytes. A day that is open is not found.',
      request: ['StatementRequest', { cid: 'alpha-key', day: '2026-11-20' }],
      responses: {
        200: withCsv('The statement', 'Statement', {
          operator: 'alpha',
          day: '2026-11-20',
          timeZone: 'Europe/Berlin',
          startsAt: '2026-11-19T23:00:00.000Z',
          endsAt: '2026-11-20T23:00:00.000Z',
          closedAt: '2026-11-21T00:00:03.120Z',
          movements: 3,
          sha256: 'a3c1f6d2b9e84f70561d0c7be2a9583f4d6e10b2c79a8e35f0146cbd2793e58a',
          totals: [
            {
              currency: 'USD',
              bets: 2,
              stakes: '22.1',
              payouts: '20.5',
              payoutReversals: '0',
              stakeReturns: '0',
              net: '1.6',
              freebetStakes: '0',
              openBets: 1,
              openStakes: '12.1',
              unresolved: 0,
            },
          ],
          openCount: 0,
          open: [],
        }),
        404: errors('The day is open, or there is none', [CODES.notFound], 'No such statement'),
      },
    }),
  },
};
