import { DatabaseError } from 'pg';
import type { PlaceState } from '../../domain/bet.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { Answer } from '../../protocol/answers.ts';
import { Batcher } from '../batcher.ts';
import type { Database, Statement } from '../database.ts';
import { storable } from '../storable-text.ts';
import { withRepeats } from '../unreported-commit.ts';
import { ATTEMPT_COLUMNS, type AttemptRecord, attemptValues } from './attempt.ts';
import { placeValues } from './rows.ts';

/**
 * An attempt owns its bet for this long on PostgreSQL's clock: longer than any deadline (5 s at
 * most) plus what a slow commit may add. Only afterwards may another process call it unknown.
 */
export const LEASE_SECONDS = 15;

export interface PlaceIntent {
  readonly transactionId: string;
  /** This attempt's own id: only the attempt written in the bet's row may send or finish (I6). */
  readonly attemptId: string;
  readonly operatorId: string;
  readonly playerId: string;
  readonly sessionId: string;
  readonly amount: string;
  readonly currency: string;
  readonly generation: number;
  readonly requestId: string | undefined;
  readonly body: Buffer;
  /** Set where the place will not be sent: recorded as final, with what the service is told. */
  readonly notSent: Answer | undefined;
}

export type PlaceBegin =
  /** The intent is committed and ours: it may be sent. */
  | { readonly kind: 'begun'; readonly operationId: string }
  /** Some row of this `transactionId` was first. */
  | { readonly kind: 'known' }
  /** The session ended or expired: nothing was written. */
  | { readonly kind: 'sessionOver' };

export interface PlaceOutcome {
  readonly transactionId: string;
  readonly attemptId: string;
  readonly operationId: string;
  readonly place: PlaceState;
  readonly attempt: AttemptRecord;
}

/** The hot path of the journal: intents and outcomes of places, written in batches (I3). */
export class PlaceJournal {
  readonly #begins: Batcher<PlaceIntent, PlaceBegin>;
  readonly #finishes: Batcher<PlaceOutcome, { readonly stands: boolean }>;

  constructor(database: Database) {
    const shared = {
      concurrency: 2,
      waitingMax: 5_000,
      isRowError: (error: unknown) => error instanceof DatabaseError,
      refused: (why: string) => new GatewayError('DATABASE_UNAVAILABLE', why),
    };
    this.#begins = new Batcher({
      ...shared,
      run: (intents) => withRepeats(() => begin(database, intents)),
    });
    this.#finishes = new Batcher({
      ...shared,
      run: (outcomes) => withRepeats(() => finish(database, outcomes)),
    });
  }

  /**
   * Commits the intent of a place, or says why not. The session is checked in the same statement,
   * so a revocation that was committed before is never overlooked.
   * @param isWanted false once the caller gave up; an intent not yet sent is then dropped
   * @throws GatewayError `DATABASE_UNAVAILABLE`; the intent may or may not be written
   */
  begin(intent: PlaceIntent, isWanted: () => boolean): Promise<PlaceBegin> {
    return this.#begins.add(intent, isWanted);
  }

  /**
   * Commits the outcome of a place that this attempt began.
   * @returns whether it stands: false when the lease had ended and the place became unknown
   * @throws GatewayError `DATABASE_UNAVAILABLE`; the outcome may or may not be written
   */
  async finish(outcome: PlaceOutcome): Promise<boolean> {
    return (await this.#finishes.add(outcome)).stands;
  }
}

export const BEGIN: Statement = {
  name: 'place-begin',
  text: `
  WITH input AS (
    SELECT i.*, substring($12::bytea FROM i.body_from FOR i.body_bytes) AS body
      FROM unnest($1::text[], $2::uuid[], $3::text[], $4::bigint[], $5::bigint[], $6::text[],
                  $7::text[], $8::int[], $9::text[], $10::int[], $11::int[], $13::int[], $14::text[])
        AS i(transaction_id, attempt_id, operator_id, player_id, session_id, amount,
             currency, generation, request_id, body_from, body_bytes, answer_status, answer_body)
  ), live AS (
    SELECT i.* FROM input i JOIN sessions s ON s.id = i.session_id
     WHERE s.ended_at IS NULL AND s.expires_at > clock_timestamp()
  ), bet AS (
    INSERT INTO bets (transaction_id, operator_id, player_id, session_id, amount, currency,
                      generation, place, busy_operation, busy_attempt, busy_until)
    SELECT transaction_id, operator_id, player_id, session_id, amount, currency, generation,
           CASE WHEN answer_status IS NULL THEN 'in_flight' ELSE 'not_sent' END,
           CASE WHEN answer_status IS NULL THEN 'place' END,
           CASE WHEN answer_status IS NULL THEN attempt_id END,
           CASE WHEN answer_status IS NULL
                THEN clock_timestamp() + make_interval(secs => ${LEASE_SECONDS}) END
      FROM live
     -- One order for all batches: two of them must not wait for each other's rows.
     ORDER BY transaction_id, attempt_id
    ON CONFLICT (transaction_id) DO NOTHING
    RETURNING transaction_id
  ), op AS (
    -- Twins within one batch: the first of the same order is the one whose row was inserted.
    INSERT INTO operations (transaction_id, operator_id, operation, attempt_id, request_id, body,
                            answer_status, answer_body)
    SELECT DISTINCT ON (l.transaction_id) l.transaction_id, l.operator_id, 'place', l.attempt_id,
           l.request_id, l.body, l.answer_status, l.answer_body
      FROM live l JOIN bet USING (transaction_id)
     ORDER BY l.transaction_id, l.attempt_id
    RETURNING id, attempt_id
  )
  SELECT l.attempt_id, op.id AS operation_id FROM live l LEFT JOIN op USING (attempt_id)`,
};

/** Our own intents of an earlier try whose commit was not reported. */
const LOOK_UP_BEGUN: Statement = {
  name: 'place-look-up-begun',
  text: `
  SELECT o.attempt_id, o.id AS operation_id
    FROM unnest($1::text[], $2::uuid[]) AS i(transaction_id, attempt_id)
    JOIN operations o USING (transaction_id, attempt_id)`,
};

interface BegunRow {
  readonly attempt_id: string;
  readonly operation_id: string | null;
}

async function begin(
  database: Database,
  intents: readonly PlaceIntent[],
): Promise<readonly PlaceBegin[]> {
  let bytes = 1; // substring() counts from 1
  const bodyFrom = intents.map(({ body }) => {
    const from = bytes;
    bytes += body.length;
    return from;
  });
  const rows = await database.query<BegunRow>(BEGIN, [
    intents.map((intent) => intent.transactionId),
    intents.map((intent) => intent.attemptId),
    intents.map((intent) => intent.operatorId),
    intents.map((intent) => intent.playerId),
    intents.map((intent) => intent.sessionId),
    intents.map((intent) => intent.amount),
    intents.map((intent) => intent.currency),
    intents.map((intent) => intent.generation),
    intents.map((intent) => intent.requestId ?? null),
    bodyFrom,
    intents.map((intent) => intent.body.length),
    Buffer.concat(intents.map((intent) => intent.body)),
    intents.map((intent) => intent.notSent?.status ?? null),
    intents.map((intent) => intent.notSent?.body ?? null),
  ]);
  const operationIds = new Map(rows.map((row) => [row.attempt_id, row.operation_id]));
  const doubtful = intents.filter(({ attemptId }) => operationIds.get(attemptId) === null);
  if (doubtful.length > 0) {
    const mine = await database.query<BegunRow>(LOOK_UP_BEGUN, [
      doubtful.map((intent) => intent.transactionId),
      doubtful.map((intent) => intent.attemptId),
    ]);
    for (const row of mine) operationIds.set(row.attempt_id, row.operation_id);
  }
  return intents.map(({ attemptId }) => {
    const operationId = operationIds.get(attemptId);
    if (operationId === undefined) return { kind: 'sessionOver' };
    return operationId === null ? { kind: 'known' } : { kind: 'begun', operationId };
  });
}

export const FINISH: Statement = {
  name: 'place-finish',
  text: `
  WITH input AS (
    SELECT * FROM unnest($1::text[], $2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::int[],
                         $7::text[], $8::timestamptz[], $9::int[], $10::text[], $11::int[],
                         $12::int[], $13::text[], $14::int[], $15::text[])
      AS i(transaction_id, attempt_id, operation_id, place, place_time, place_code, place_message,
           started_at, latency_ms, result, status, code, error, answer_status, answer_body)
  ), bet AS (
    UPDATE bets b
       SET place = i.place, place_time = i.place_time, place_code = i.place_code,
           place_message = i.place_message, busy_operation = NULL, busy_attempt = NULL,
           busy_until = NULL, version = b.version + 1
      FROM input i
     WHERE b.transaction_id = i.transaction_id AND b.busy_attempt = i.attempt_id
       AND b.place = 'in_flight'
    RETURNING i.attempt_id
  ), attempt AS (
    -- Also when the lease had ended: a late answer changes nothing, but people must see it.
    INSERT INTO attempts (operation_id, number, started_at, latency_ms, result, status, code,
                          error, answer_status, answer_body)
    SELECT operation_id, 1, started_at, latency_ms, result, status, code, error,
           answer_status, answer_body
      FROM input ORDER BY operation_id
    ON CONFLICT DO NOTHING
  )
  SELECT attempt_id FROM bet`,
};

/** Our own outcomes of an earlier try whose commit was not reported: the attempt stands there. */
const LOOK_UP_FINISHED: Statement = {
  name: 'place-look-up-finished',
  text: `
  SELECT i.attempt_id
    FROM unnest($1::text[], $2::uuid[], $3::bigint[], $4::text[])
      AS i(transaction_id, attempt_id, operation_id, place)
    JOIN bets b ON b.transaction_id = i.transaction_id AND b.place = i.place
    JOIN operations o ON o.id = i.operation_id AND o.attempt_id = i.attempt_id
    JOIN attempts a ON a.operation_id = i.operation_id AND a.number = 1`,
};

async function finish(
  database: Database,
  outcomes: readonly PlaceOutcome[],
): Promise<readonly { readonly stands: boolean }[]> {
  const places = outcomes.map(({ place }) => placeValues(place));
  const attempts = outcomes.map(({ attempt }) => attemptValues(attempt));
  const written = await database.query<{ attempt_id: string }>(FINISH, [
    outcomes.map((outcome) => outcome.transactionId),
    outcomes.map((outcome) => outcome.attemptId),
    outcomes.map((outcome) => outcome.operationId),
    places.map(([kind]) => kind),
    places.map(([, time]) => time),
    places.map(([, , code]) => code),
    places.map(([, , , message]) => (message === null ? null : storable(message))),
    ...ATTEMPT_COLUMNS.map((_, column) => attempts.map((values) => values[column])),
  ]);
  const standing = new Set(written.map((row) => row.attempt_id));
  const doubtful = outcomes.filter(({ attemptId }) => !standing.has(attemptId));
  if (doubtful.length > 0) {
    const before = await database.query<{ attempt_id: string }>(LOOK_UP_FINISHED, [
      doubtful.map((outcome) => outcome.transactionId),
      doubtful.map((outcome) => outcome.attemptId),
      doubtful.map((outcome) => outcome.operationId),
      doubtful.map((outcome) => placeValues(outcome.place)[0]),
    ]);
    for (const row of before) standing.add(row.attempt_id);
  }
  return outcomes.map(({ attemptId }) => ({ stands: standing.has(attemptId) }));
}
