import { type AttemptFacts, courseOf } from '../../domain/course.ts';
import { BET_OPERATIONS } from '../../domain/operation.ts';
import type { Answer } from '../../protocol/answers.ts';
import { type Columns, type Parameters, statement } from '../sql/statement.ts';

/*
 * The operation's row has the service's answer if it needed no attempt or was corrected (`CORRECT_ANSWER`), and takes
 * precedence; otherwise the row of the first attempt with a waiting caller has it.
 */

/** Joins that attempt `a` to an operation `o`; there may be none. */
export const WITH_ANSWERED_ATTEMPT = `
    LEFT JOIN LATERAL (SELECT answer_status, answer_body FROM attempts
                        WHERE operation_id = o.id AND answer_status IS NOT NULL
                        ORDER BY number LIMIT 1) a ON true`;

/** The answer to `o`, joined with that attempt; `answerIn` reads it. */
export const ANSWER = `
         coalesce(o.answer_status, a.answer_status) AS answer_status,
         CASE WHEN o.answer_status IS NULL THEN a.answer_body ELSE o.answer_body END AS answer_body`;

export function answerIn(row: Columns): Answer | undefined {
  const status = row.intOrNull('answer_status');
  const body = row.textOrNull('answer_body');
  return status === undefined || body === undefined ? undefined : { status, body };
}

/** The HTTP status of the answer to an operation `p`; null while none is recorded. */
export const ANSWERED_STATUS = `coalesce(p.answer_status, (
         SELECT a.answer_status FROM attempts a WHERE a.operation_id = p.id AND a.answer_status IS NOT NULL
          ORDER BY a.number LIMIT 1))`;

/**
 * SQL: the facts that an operation's attempts share, as an outage of days leaves thousands of equal ones. `OFFSET 0`: a
 * plan made while the table was small would read all of it, not one operation's rows by key.
 */
export const attemptFacts = (operationId: string) => `
         (SELECT jsonb_agg(f ORDER BY f)
            FROM (SELECT DISTINCT result, code, sent, confirmed, answer_status
                    FROM attempts WHERE operation_id = ${operationId} OFFSET 0) f)`;

export function attemptFactsOf(row: Columns): AttemptFacts {
  return {
    result: row.text('result'),
    code: row.intOrNull('code'),
    sent: row.bool('sent'),
    confirmed: row.bool('confirmed'),
    answerStatus: row.intOrNull('answer_status'),
  };
}

/**
 * A bet's operations, each with its answer and record (`courseOf`). Each costs some thirty pages to read, and a bet
 * that is resettled for months, or repeated through an outage, has thousands.
 */
const RECORDED = `
  SELECT o.id, o.operation, o.attempt_id, o.request_id, o.body, ${ANSWER},
         ${attemptFacts('o.id')} AS attempts,
         (SELECT json_agg(json_build_object('state', d.state, 'attempts', d.attempts))
            FROM (SELECT state, attempts FROM deliveries WHERE operation_id = o.id OFFSET 0) d) AS deliveries
    FROM operations o${WITH_ANSWERED_ATTEMPT}
   WHERE o.transaction_id = :transaction_id`;

interface OfBet {
  readonly transactionId: string;
}

/** @param which SQL: a condition on these operations `o` */
function recorded<Input extends OfBet>(name: string, parameters: Parameters<Input>, which: string) {
  const ofBet: Parameters<OfBet> = { transaction_id: ['text', (input) => input.transactionId] };
  const text = `${RECORDED} AND ${which} ORDER BY o.id DESC`;
  return statement(name, { ...ofBet, ...parameters }, text, recordedOf);
}

/** All operations of a bet, newest first. */
export const RECORDED_OPERATIONS = recorded('bet-operations', {}, 'true');

export interface RequestKey extends OfBet {
  readonly requestId: string;
}

/**
 * Operations with one `requestId`, newest first: a bet may have too many to read all. Not those without an answer or
 * with 503, which the service repeats until the wallet accepts one.
 */
export const RECORDED_UNDER = recorded(
  'bet-operations-under',
  { request_id: ['text', ({ requestId }: RequestKey) => requestId] },
  'o.request_id = :request_id AND coalesce(o.answer_status, a.answer_status) < 500',
);

export interface ResultPage extends OfBet {
  /** Only results that were recorded before this operation; undefined: the newest. */
  readonly before: string | undefined;
  readonly limit: number;
}

/** The next results of a bet, newest first; reads only the ids of all others. */
export const RESULT_PAGE = recorded(
  'bet-result-page',
  {
    before: ['bigint', ({ before }) => before ?? null],
    limit: ['int', ({ limit }) => limit],
  } satisfies Parameters<ResultPage>,
  `o.id = ANY (ARRAY(
      SELECT id FROM (SELECT id FROM operations
                       WHERE transaction_id = :transaction_id
                         AND operation IN ('settle', 'unsettle') OFFSET 0) mine
       WHERE :before IS NULL OR id < :before ORDER BY id DESC LIMIT :limit))`,
);

export interface ResultKey extends RequestKey {
  /** Only this operation, and results that were recorded before it. */
  readonly upTo: string;
}

/** A bet's results under one `requestId`, up to one of them. */
export const RESULTS_UNDER = recorded(
  'bet-results-under',
  {
    request_id: ['text', ({ requestId }) => requestId],
    up_to: ['bigint', ({ upTo }) => upTo],
  } satisfies Parameters<ResultKey>,
  `o.operation IN ('settle', 'unsettle') AND o.request_id = :request_id AND o.id <= :up_to`,
);

export interface OperationKey extends OfBet {
  readonly operationId: string;
}

export const RECORDED_OPERATION = recorded(
  'bet-operation',
  { operation_id: ['bigint', ({ operationId }: OperationKey) => operationId] },
  'o.id = :operation_id',
);

function recordedOf(row: Columns) {
  const facts = {
    answerStatus: row.intOrNull('answer_status'),
    attempts: row.rowsOrNull('attempts').map(attemptFactsOf),
    deliveries: row
      .rowsOrNull('deliveries')
      .map((one) => ({ state: one.text('state'), attempts: one.int('attempts') })),
  };
  return {
    id: row.text('id'),
    operation: row.oneOf('operation', BET_OPERATIONS),
    attemptId: row.text('attempt_id'),
    requestId: row.textOrNull('request_id'),
    body: row.bytes('body'),
    answer: answerIn(row),
    ...courseOf(facts),
  };
}
