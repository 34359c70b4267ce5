import type { Bet } from '../../domain/bet.ts';
import type { Course } from '../../domain/course.ts';
import type { Deadline } from '../../domain/deadline.ts';
import { afterLapse, byAnswerGiven } from '../../domain/finish.ts';
import type { BetOperation } from '../../domain/operation.ts';
import type { Answer } from '../../protocol/answers.ts';
import type { Database } from '../database.ts';
import type { DatabaseClock } from '../server/database-clock.ts';
import { type LookUp, sharedLookUp } from '../sql/shared-look-up.ts';
import { UnreadableRow } from '../sql/statement.ts';
import type { Commit, Committed, OperationRecord } from './commit.ts';
import { BetCommits } from './commits.ts';
import { becameOf, whenFree } from './locked-row.ts';
import type { Finished, Outcome } from './outcome.ts';
import { BetOutcomes } from './outcomes.ts';
import {
  type OperationKey,
  RECORDED_OPERATION,
  RECORDED_OPERATIONS,
  RECORDED_UNDER,
  RESULT_PAGE,
  RESULTS_UNDER,
  type RequestKey,
  type ResultKey,
} from './recorded.ts';
import { LAPSED, RECOVER } from './recover-statements.ts';
import {
  ANSWER_OF,
  type AnswerCorrection,
  type AttemptKey,
  CORRECT_ANSWER,
  CORRECT_BET,
  FIND,
  FIND_PLACE,
  LOOK_UP_BEGUN,
  RECORD_COPY,
  RECORD_REFUSAL,
  type RecordedCopy,
  type StoredRequest,
} from './statements.ts';

/** Most bets have fewer results. */
const RESULTS_AT_ONCE = 20;

export interface RecordedOperation extends Course {
  readonly id: string;
  readonly operation: BetOperation;
  /** The attempt inside its callback. */
  readonly attemptId: string;
  readonly requestId: string | undefined;
  readonly body: Buffer;
  /** The service's answer, if it is recorded. */
  readonly answer: Answer | undefined;
}

/** A bet whose operation in flight was marked unknown. */
export interface RecoveredBet {
  readonly transactionId: string;
  readonly operatorId: string | undefined;
  readonly operation: BetOperation | 'confirm';
}

/**
 * The journal for everything but first places: read, decide, and write if the bet has not changed and the caller still
 * waits. No lock is held across a decision, so a frozen process blocks nobody.
 */
export class BetJournal {
  readonly #database: Database;
  readonly #clock: DatabaseClock;
  readonly #find: LookUp<Bet>;
  readonly #commits: BetCommits;
  readonly #outcomes: BetOutcomes;

  constructor(database: Database, clock: DatabaseClock) {
    this.#database = database;
    this.#clock = clock;
    this.#find = sharedLookUp(database, FIND, (bet) => bet.transactionId);
    this.#commits = new BetCommits(database, clock);
    this.#outcomes = new BetOutcomes(database, this.#find);
  }

  /** The bet with its open promises, or undefined. @throws GatewayError `DATABASE_UNAVAILABLE` */
  async find(transactionId: string): Promise<Bet | undefined> {
    return await this.#find(transactionId);
  }

  /** All operations of a bet, newest first. @throws GatewayError `DATABASE_UNAVAILABLE` */
  async operationsOf(transactionId: string): Promise<readonly RecordedOperation[]> {
    return await this.#database.run(RECORDED_OPERATIONS, { transactionId });
  }

  /** One operation of a bet. @throws GatewayError `DATABASE_UNAVAILABLE` */
  async operation(key: OperationKey): Promise<RecordedOperation | undefined> {
    const [found] = await this.#database.run(RECORDED_OPERATION, key);
    return found;
  }

  /**
   * A bet's results, newest first, read a few at a time.
   * @param before only those that were recorded before this operation
   * @throws GatewayError `DATABASE_UNAVAILABLE`
   */
  async *resultsOf(transactionId: string, before?: string): AsyncGenerator<RecordedOperation> {
    let last = before;
    for (;;) {
      const range = { transactionId, before: last, limit: RESULTS_AT_ONCE };
      const page = await this.#database.run(RESULT_PAGE, range);
      yield* page;
      if (page.length < RESULTS_AT_ONCE) return;
      last = page.at(-1)?.id;
    }
  }

  /** Results of one `requestId`, up to one operation. @throws GatewayError `DATABASE_UNAVAILABLE` */
  async resultsUnder(key: ResultKey): Promise<readonly RecordedOperation[]> {
    return await this.#database.run(RESULTS_UNDER, key);
  }

  /** Operations of one `requestId` that have a final answer, newest first. @throws GatewayError `DATABASE_UNAVAILABLE` */
  async operationsUnder(key: RequestKey): Promise<readonly RecordedOperation[]> {
    return await this.#database.run(RECORDED_UNDER, key);
  }

  /** Whether a place is recorded by its `requestId`, or else its bytes. @throws GatewayError `DATABASE_UNAVAILABLE` */
  async hasPlace(request: StoredRequest): Promise<boolean> {
    const found = await this.#database.run(FIND_PLACE, request);
    return found.length > 0;
  }

  /**
   * One attempt's request and the service's answer; no answer while it is in flight or if its process died.
   * @throws GatewayError `DATABASE_UNAVAILABLE`
   */
  async answerOf(
    attempt: AttemptKey,
  ): Promise<{ readonly body: Buffer; readonly answer: Answer | undefined } | undefined> {
    const [found] = await this.#database.run(ANSWER_OF, attempt);
    return found;
  }

  /**
   * Writes a decision in one statement, unless the caller's time is over by PostgreSQL's clock.
   * @param deadline of the waiting caller; undefined if nobody waits
   * @throws GatewayError `DATABASE_UNAVAILABLE`; the decision may or may not be written
   */
  async commit(commit: Commit, deadline: Deadline | undefined): Promise<Committed> {
    return await this.#commits.commit(commit, deadline);
  }

  /**
   * Records a copy that is answered from the journal: its bytes must not count as new when another result stands.
   * @returns whether it was written before the caller's time was over
   * @throws GatewayError `DATABASE_UNAVAILABLE`
   */
  async recordCopy(
    bet: Pick<RecordedCopy, 'transactionId' | 'operatorId'>,
    record: OperationRecord,
    deadline: Deadline,
  ): Promise<boolean> {
    const before = await this.#clock.limitOf(deadline);
    const written = await this.#database.run(RECORD_COPY, { ...bet, record, before });
    return written.length > 0;
  }

  /**
   * Records a refusal without a wallet call. A concurrent decision on the previous state has to be made again.
   * @returns false if the bet has changed since it was read, or the caller's time is over
   * @throws GatewayError `DATABASE_UNAVAILABLE`
   */
  async recordRefusal(from: Bet, record: OperationRecord, deadline: Deadline): Promise<boolean> {
    // For a new bet this creates the row, which a copy then finds.
    if (from.version === 0) {
      const refusal = { from, to: from, record, delivery: undefined, supersedes: [] };
      return (await this.commit(refusal, deadline)).kind === 'committed';
    }
    const before = await this.#clock.limitOf(deadline);
    const { transactionId, version } = from;
    const operatorId = from.owner?.operatorId;
    const refusal = { transactionId, operatorId, version, record, before };
    return (await this.#database.run(RECORD_REFUSAL, refusal)).length > 0;
  }

  /** The operation that an attempt has committed, if any. @throws GatewayError as `find` does */
  async operationIdOf(attempt: AttemptKey): Promise<string | undefined> {
    const [begun] = await this.#database.run(LOOK_UP_BEGUN, [attempt]);
    return begun?.operationId;
  }

  /** When the caller's answer must be ready, by PostgreSQL's clock. @throws GatewayError `DATABASE_UNAVAILABLE` */
  limitOf(deadline: Deadline): Promise<Date> {
    return this.#clock.limitOf(deadline);
  }

  /**
   * Writes the outcome of an attempt and frees the bet.
   * @throws GatewayError `DATABASE_UNAVAILABLE`; the outcome may or may not be written
   */
  async finish(outcome: Outcome): Promise<Finished> {
    return await this.#outcomes.finish(outcome);
  }

  /** Records the sent answer if another was committed. @throws GatewayError `DATABASE_UNAVAILABLE` */
  async correctAnswer(correction: AnswerCorrection): Promise<void> {
    await this.#database.run(CORRECT_ANSWER, correction);
    for (;;) {
      const bet = await this.find(correction.transactionId);
      const corrected = bet && byAnswerGiven(bet, correction);
      if (corrected === undefined) return;
      if ((await this.#database.run(CORRECT_BET, [corrected])).length > 0) return;
    }
  }

  /**
   * Marks a killed process's attempt as unknown. @returns false if another process has freed the bet
   * @throws GatewayError `DATABASE_UNAVAILABLE`
   */
  async recover(transactionId: string, attemptId: string): Promise<boolean> {
    for (;;) {
      const bet = await this.find(transactionId);
      if (bet?.busy?.attemptId !== attemptId || !bet.busy.lapsed) return false;
      const recovery = { attemptId, version: bet.version, freed: afterLapse(bet) };
      const { kind } = await whenFree(async () => {
        const [became] = becameOf([recovery], await this.#database.run(RECOVER, [recovery]));
        return became ?? { kind: 'unwritten' };
      });
      if (kind === 'written') return true;
    }
  }

  /** The same for at most `limit` bets, except those locked by another session. @returns the recovered bets */
  async recoverLapsed(limit: number): Promise<readonly RecoveredBet[]> {
    const lapsed = await this.#database.run(LAPSED, limit);
    const found = await Promise.all(lapsed.map((one) => this.#findReadable(one.transactionId)));
    const recoveries = found.flatMap((bet) =>
      bet?.busy?.lapsed === true
        ? [{ attemptId: bet.busy.attemptId, version: bet.version, freed: afterLapse(bet) }]
        : [],
    );
    if (recoveries.length === 0) return [];
    const rows = await this.#database.run(RECOVER, recoveries);
    const written = new Set(rows.flatMap((row) => (row.isWritten ? [row.attemptId] : [])));
    return lapsed.filter(({ attemptId }) => written.has(attemptId));
  }

  /** Undefined also for a bet that this release cannot read: it must not keep others busy. Its own callbacks log it. */
  async #findReadable(transactionId: string): Promise<Bet | undefined> {
    try {
      return await this.#find(transactionId);
    } catch (error) {
      if (error instanceof UnreadableRow) return undefined;
      throw error;
    }
  }
}
