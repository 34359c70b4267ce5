import type { Bet } from '../../domain/bet.ts';
import type { AnsweredOtherwise } from '../../domain/finish.ts';
import { BET_OPERATIONS } from '../../domain/operation.ts';
import type { Answer } from '../../protocol/answers.ts';
import { blankTexts } from '../../protocol/blank-text.ts';
import {
  batchStatement,
  type Columns,
  noRow,
  type Parameters,
  statement,
} from '../sql/statement.ts';
import { ANSWER, WITH_ANSWERED_ATTEMPT } from './answered.ts';
import { SET_STATE, stateParameters } from './columns.ts';
import type { OperationRecord } from './commit.ts';
import { betOf, SELECT_BETS } from './rows.ts';

const byTransaction: Parameters<string> = { transaction_id: ['text', (id) => id] };

export interface AttemptKey {
  readonly transactionId: string;
  readonly attemptId: string;
}

export interface RequestKey {
  readonly transactionId: string;
  readonly requestId: string;
}

export const byAttempt: Parameters<AttemptKey> = {
  transaction_id: ['text', ({ transactionId }) => transactionId],
  attempt_id: ['uuid', ({ attemptId }) => attemptId],
};

/** Bets by their ids, each with its open promises. */
export const FIND = statement(
  'bet-find',
  { transaction_ids: ['text[]', (ids: readonly string[]) => ids] },
  SELECT_BETS,
  betOf,
);

/** The operations that attempts have committed; no row for an attempt that has not. */
export const LOOK_UP_BEGUN = batchStatement(
  'bet-look-up-begun',
  byAttempt,
  `
  SELECT o.attempt_id, o.id AS operation_id
    FROM :input JOIN operations o USING (transaction_id, attempt_id)`,
  (row) => ({ attemptId: row.text('attempt_id'), operationId: row.text('operation_id') }),
);

/** The request of one attempt, and what its caller was answered. */
export const ANSWER_OF = statement(
  'bet-answer-of',
  byAttempt,
  `
  SELECT o.body, ${ANSWER}
    FROM operations o${WITH_ANSWERED_ATTEMPT}
   WHERE o.transaction_id = :transaction_id AND o.attempt_id = :attempt_id`,
  (row) => ({ body: row.bytes('body'), answer: answerOf(row) }),
);

/** Whether the wallet refused an operation by its attempt `t`, and the service was answered so. */
const IS_REFUSAL = `t.result = 'declined' AND t.answer_status = 400`;

/**
 * Operations of a bet. `was_sent`: a wallet may have seen it. `is_concluded`: a wallet accepted it, or refused it
 * and the service was answered so (`is_refused`), or a person resolved it, which the service was not told; after any other refusal the operation still has to be delivered.
 *
 * `OFFSET 0`: without it, a plan that was made while a table was small reads that whole table instead of one
 * operation's rows by their key.
 */
export const RECORDED = `
  SELECT o.id, o.operation, o.attempt_id, o.request_id, o.body, ${ANSWER},
         -- No wallet can have seen an operation whose attempts all failed before a byte had left, or that was answered
         -- at once and never attempted as a delivery. Without an attempt on record it may have been sent, and its
         -- outcome lost: if it has no answer yet, or was answered 503 (bet-correct-answer).
         (EXISTS (SELECT 1 FROM attempts t
                   WHERE t.operation_id = o.id AND t.sent OFFSET 0)
           OR EXISTS (SELECT 1 FROM deliveries d
                       WHERE d.operation_id = o.id
                         AND (d.state <> 'superseded' OR d.attempts > 0) OFFSET 0)
           OR (o.answer_status IS NULL
                OR o.answer_status >= 500
                   AND NOT EXISTS (SELECT 1 FROM deliveries d
                                    WHERE d.operation_id = o.id OFFSET 0))
              AND NOT EXISTS (SELECT 1 FROM attempts t
                               WHERE t.operation_id = o.id OFFSET 0)) AS was_sent,
         EXISTS (SELECT 1 FROM attempts t
                  WHERE t.operation_id = o.id
                    -- An answer that arrived after its lease had ended does not affect the bet (rule 16).
                    AND (t.result = 'accepted' AND t.confirmed
                         OR ${IS_REFUSAL}) OFFSET 0)
           -- What was promised and is resolved may have been passed by a later result, and is not the bet's then.
           OR coalesce(o.answer_status, a.answer_status) IS DISTINCT FROM 200
              AND EXISTS (SELECT 1 FROM deliveries d
                           WHERE d.operation_id = o.id
                             AND d.state IS NOT DISTINCT FROM 'resolved' OFFSET 0) AS is_concluded,
         EXISTS (SELECT 1 FROM attempts t WHERE t.operation_id = o.id AND ${IS_REFUSAL} OFFSET 0) AS is_refused
    FROM operations o${WITH_ANSWERED_ATTEMPT}
   WHERE o.transaction_id = :transaction_id`;

/** All operations of a bet, newest first. */
export const RECORDED_OPERATIONS = statement(
  'bet-operations',
  byTransaction,
  `${RECORDED} ORDER BY o.id DESC`,
  recordedOf,
);

/**
 * Operations of a bet with one `requestId`, newest first: a bet resettled for months has too many to read all. Leaves
 * out those without an answer yet, or with 503, which the service repeats until the wallet accepts one.
 */
export const RECORDED_UNDER = statement(
  'bet-operations-under',
  {
    transaction_id: ['text', (asked: RequestKey) => asked.transactionId],
    request_id: ['text', ({ requestId }) => requestId],
  },
  `${RECORDED} AND o.request_id = :request_id
     AND coalesce(o.answer_status, a.answer_status) < 500
   ORDER BY o.id DESC`,
  recordedOf,
);

/** A request of a bet as the journal stores it. */
export interface StoredRequest {
  readonly transactionId: string;
  readonly requestId: string | undefined;
  readonly body: Buffer;
}

/**
 * A row if a place of the bet is on record under the `requestId`; without one, with the same bytes, or with what is left
 * of them once the player has been forgotten.
 */
export const FIND_PLACE = statement(
  'bet-find-place',
  {
    transaction_id: ['text', ({ transactionId }) => transactionId],
    request_id: ['text', ({ requestId }) => requestId ?? null],
    body: ['bytea', ({ body }) => body],
    blanked: ['bytea', blankedIfUnnamed],
  } satisfies Parameters<StoredRequest>,
  `
  SELECT id FROM operations
   WHERE transaction_id = :transaction_id AND operation = 'place'
     AND (request_id = :request_id
          OR :request_id IS NULL AND request_id IS NULL AND (body = :body OR body = :blanked))
   LIMIT 1`,
  noRow,
);

/** As `players forget` leaves it; null where the `requestId` decides. */
function blankedIfUnnamed({ requestId, body }: StoredRequest): Buffer | null {
  return requestId === undefined ? Buffer.from(blankTexts(body.toString())) : null;
}

export function recordedOf(row: Columns) {
  return {
    id: row.text('id'),
    operation: row.oneOf('operation', BET_OPERATIONS),
    attemptId: row.text('attempt_id'),
    requestId: row.textOrNull('request_id'),
    body: row.bytes('body'),
    answer: answerOf(row),
    wasSent: row.bool('was_sent'),
    isConcluded: row.bool('is_concluded'),
    isRefused: row.bool('is_refused'),
  };
}

function answerOf(row: Columns) {
  const status = row.intOrNull('answer_status');
  const body = row.textOrNull('answer_body');
  return status === undefined || body === undefined ? undefined : { status, body };
}

/** An operation answered without a call, and the end of its caller's time by PostgreSQL's clock. */
export interface RecordedCopy {
  readonly transactionId: string;
  readonly operatorId: string | undefined;
  readonly record: OperationRecord;
  readonly before: Date;
}

const copied: Parameters<RecordedCopy> = {
  transaction_id: ['text', ({ transactionId }) => transactionId],
  operator_id: ['text', ({ operatorId }) => operatorId ?? null],
  operation: ['text', ({ record }) => record.operation],
  attempt_id: ['uuid', ({ record }) => record.attemptId],
  request_id: ['text', ({ record }) => record.requestId ?? null],
  body: ['bytea', ({ record }) => record.body],
  answer_status: ['int', ({ record }) => record.answer?.status ?? null],
  answer_body: ['text', ({ record }) => record.answer?.body ?? null],
  before: ['timestamptz', ({ before }) => before],
};

/** Records the request of a copy that was answered without a call. */
export const RECORD_COPY = statement(
  'bet-record-copy',
  copied,
  `
  INSERT INTO operations (transaction_id, operator_id, operation, attempt_id, request_id, body,
                          answer_status, answer_body, is_copy)
  SELECT :transaction_id, :operator_id, :operation, :attempt_id, :request_id, :body,
         :answer_status, :answer_body, true
   WHERE clock_timestamp() < :before
  RETURNING id`,
  (row) => row.text('id'),
);

/** Records a refusal that was decided without a call, if the bet has not changed since it was read. */
export const RECORD_REFUSAL = statement(
  'bet-record-refusal',
  { ...copied, version: ['int', ({ version }) => version] } satisfies Parameters<
    RecordedCopy & { readonly version: number }
  >,
  `
  WITH bet AS (
    UPDATE bets SET version = version + 1
     WHERE transaction_id = :transaction_id AND version = :version AND clock_timestamp() < :before
    RETURNING transaction_id
  )
  INSERT INTO operations (transaction_id, operator_id, operation, attempt_id, request_id, body,
                          answer_status, answer_body, is_copy)
  SELECT transaction_id, :operator_id, :operation, :attempt_id, :request_id, :body,
         :answer_status, :answer_body, true
    FROM bet
  RETURNING id`,
  (row) => row.text('id'),
);

/** The answer that was really sent for an operation whose outcome was committed with another one. */
export interface AnswerCorrection extends AttemptKey, AnsweredOtherwise {
  readonly lateAnswer: Answer;
}

const corrected = {
  ...byAttempt,
  status: ['int', ({ lateAnswer }) => lateAnswer.status],
  body: ['text', ({ lateAnswer }) => lateAnswer.body],
} satisfies Parameters<AnswerCorrection>;

/** Records the answer that was really sent. */
export const CORRECT_ANSWER = statement(
  'bet-correct-answer',
  corrected,
  `
  UPDATE operations SET answer_status = :status, answer_body = :body
   WHERE transaction_id = :transaction_id AND attempt_id = :attempt_id`,
  noRow,
);

/** Writes what that answer makes of the bet, if it is as it was read. */
export const CORRECT_BET = batchStatement(
  'bet-correct',
  {
    transaction_id: ['text', ({ transactionId }) => transactionId],
    version: ['int', ({ version }) => version],
    ...stateParameters<Bet>((bet) => bet),
  } satisfies Parameters<Bet>,
  `
  UPDATE bets b SET ${SET_STATE}, version = b.version + 1 FROM :input
   WHERE b.transaction_id = i.transaction_id AND b.version = i.version
  RETURNING b.version`,
  (row) => row.int('version'),
);
