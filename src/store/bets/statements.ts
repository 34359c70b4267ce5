import type { Bet } from '../../domain/bet.ts';
import type { AnsweredOtherwise } from '../../domain/finish.ts';
import type { Answer } from '../../protocol/answers.ts';
import { blankTexts } from '../../protocol/blank-text.ts';
import { batchStatement, noRow, type Parameters, statement } from '../sql/statement.ts';
import { SET_STATE, stateParameters } from './columns.ts';
import type { OperationRecord } from './commit.ts';
import { ANSWER, answerIn, WITH_ANSWERED_ATTEMPT } from './recorded.ts';
import { betOf, SELECT_BETS } from './rows.ts';

export interface AttemptKey {
  readonly transactionId: string;
  readonly attemptId: string;
}

export const byAttempt: Parameters<AttemptKey> = {
  transaction_id: ['text', ({ transactionId }) => transactionId],
  attempt_id: ['uuid', ({ attemptId }) => attemptId],
};

/** Bets by id, each with its open promises. */
export const FIND = statement(
  'bet-find',
  { transaction_ids: ['text[]', (ids: readonly string[]) => ids] },
  SELECT_BETS,
  betOf,
);

/** Operations that attempts have committed; no row for any other attempt. */
export const LOOK_UP_BEGUN = batchStatement(
  'bet-look-up-begun',
  byAttempt,
  `
  SELECT o.attempt_id, o.id AS operation_id
    FROM :input JOIN operations o USING (transaction_id, attempt_id)`,
  (row) => ({ attemptId: row.text('attempt_id'), operationId: row.text('operation_id') }),
);

/** The request of one attempt, and its caller's answer. */
export const ANSWER_OF = statement(
  'bet-answer-of',
  byAttempt,
  `
  SELECT o.body, ${ANSWER}
    FROM operations o${WITH_ANSWERED_ATTEMPT}
   WHERE o.transaction_id = :transaction_id AND o.attempt_id = :attempt_id`,
  (row) => ({ body: row.bytes('body'), answer: answerIn(row) }),
);

/** A request in its stored form. */
export interface StoredRequest {
  readonly transactionId: string;
  readonly requestId: string | undefined;
  readonly body: Buffer;
}

/** By `requestId`; a place without one by its bytes, or by those that remain once the player is forgotten. */
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

/** As `players forget` leaves it; null if the `requestId` decides. */
function blankedIfUnnamed({ requestId, body }: StoredRequest): Buffer | null {
  return requestId === undefined ? Buffer.from(blankTexts(body.toString())) : null;
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

const INSERT_COPY = `
  INSERT INTO operations (transaction_id, operator_id, operation, attempt_id, request_id, body,
                          answer_status, answer_body, is_copy)
  SELECT :transaction_id, :operator_id, :operation, :attempt_id, :request_id, :body,
         :answer_status, :answer_body, true`;

/** Records the request of a copy that was answered without a call. */
export const RECORD_COPY = statement(
  'bet-record-copy',
  copied,
  `${INSERT_COPY} WHERE clock_timestamp() < :before RETURNING id`,
  noRow,
);

/** Records a refusal without a call, if the bet has not changed since it was read. */
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
  ${INSERT_COPY} FROM bet RETURNING id`,
  noRow,
);

/** The answer that was really sent for an operation, if its outcome was committed with another. */
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

/** Writes the bet that follows from that answer, if it is as it was read. */
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
