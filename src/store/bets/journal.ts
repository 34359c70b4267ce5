import type { Bet, ResultType } from '../../domain/bet.ts';
import type { BetOperation, DeliverableOperation } from '../../domain/operation.ts';
import type { Answer } from '../../protocol/answers.ts';
import type { Database } from '../database.ts';
import { withRepeats } from '../unreported-commit.ts';
import { BetOutcomes, type Outcome } from './outcomes.ts';
import { type BetRow, betOf, stateValues } from './rows.ts';
import {
  COMMIT_CHANGE,
  COMMIT_NEW,
  FIND,
  FIND_OPERATION,
  OPERATIONS,
  RECOVER,
  RECOVER_LAPSED,
  TOLD_OF,
} from './statements.ts';

export type { Outcome } from './outcomes.ts';

export interface OperationRecord {
  readonly operation: BetOperation;
  readonly attemptId: string;
  readonly requestId: string | undefined;
  /** As the service sent it, but for its token, of which only the hash is kept. */
  readonly body: Buffer;
  /** What the service is told, where that is certain before any attempt. */
  readonly answer: Answer | undefined;
}

export interface NewDelivery {
  readonly operation: DeliverableOperation;
  /** `live`: guards an attempt within its callback, and is nobody's work until that one is over. */
  readonly state: 'live' | 'pending';
  /** `confirm`: repeats what was confirmed; it orders nothing and later operations overtake it. */
  readonly purpose?: 'promise' | 'confirm';
  /** What the service is told when the promise holds. */
  readonly transactionTime: string;
  readonly horizonMs: number;
  readonly settle?: { readonly amount: string; readonly resultType: ResultType };
}

export interface Commit {
  /** As it was read: written only if nothing moved since. `version` 0 is a bet not yet there. */
  readonly from: Bet;
  readonly to: Bet;
  readonly record: OperationRecord;
  readonly delivery: NewDelivery | undefined;
  /** Deliveries of this bet that have lost their meaning. */
  readonly supersedes: readonly string[];
}

/** An operation that the service asked for, as it was kept. */
export interface RecordedOperation {
  readonly id: string;
  readonly operation: BetOperation;
  /** Of the attempt within its callback. */
  readonly attemptId: string;
  readonly body: Buffer;
  /** The wallet accepted it, or refused it with a word that the service was told. */
  readonly isConcluded: boolean;
}

/** A bet whose operation in flight was given up for unknown. */
export interface RecoveredBet {
  readonly transactionId: string;
  readonly operatorId: string | null;
  readonly operation: BetOperation;
}

/**
 * The journal of everything that is not a first place: read, decide, and write only if the bet is
 * still what was read. No lock is ever held across a decision, so a frozen process blocks nobody.
 */
export class BetJournal {
  readonly #database: Database;
  readonly #outcomes: BetOutcomes;

  constructor(database: Database) {
    this.#database = database;
    this.#outcomes = new BetOutcomes(database);
  }

  /** The bet with its open deliveries, or undefined. @throws GatewayError `DATABASE_UNAVAILABLE` */
  async find(transactionId: string): Promise<Bet | undefined> {
    const [row] = await this.#database.query<BetRow & Record<string, unknown>>(FIND, [
      transactionId,
    ]);
    return row === undefined ? undefined : betOf(row);
  }

  /** What was asked for after the place, newest first. @throws GatewayError `DATABASE_UNAVAILABLE` */
  async operationsOf(transactionId: string): Promise<readonly RecordedOperation[]> {
    return await this.#database.query<RecordedOperation & Record<string, unknown>>(OPERATIONS, [
      transactionId,
    ]);
  }

  /**
   * The request of one attempt within a callback, and what the service was told when it ended;
   * undefined while it lasts, and where its process was killed.
   * @throws GatewayError `DATABASE_UNAVAILABLE`
   */
  async toldOf(
    transactionId: string,
    attemptId: string,
  ): Promise<{ readonly body: Buffer; readonly answer: Answer } | undefined> {
    const [row] = await this.#database.query<{ body: Buffer; status: number; answer: string }>(
      TOLD_OF,
      [transactionId, attemptId],
    );
    return row && { body: row.body, answer: { status: row.status, body: row.answer } };
  }

  /**
   * Writes a decision: the bet's next state, the operation, what it promises and supersedes, in
   * one statement.
   * @returns the operation's id, or undefined when the bet has moved: read and decide again
   * @throws GatewayError `DATABASE_UNAVAILABLE`; the decision may or may not be written
   */
  async commit(commit: Commit): Promise<string | undefined> {
    return await withRepeats(() => this.#commitOnce(commit));
  }

  async #commitOnce(commit: Commit): Promise<string | undefined> {
    const { from, to, record, delivery } = commit;
    const statement = from.version === 0 ? COMMIT_NEW : COMMIT_CHANGE;
    const [row] = await this.#database.query<{ operation_id: string | null }>(statement, [
      to.transactionId,
      from.version,
      to.owner?.operatorId ?? null,
      to.owner?.playerId ?? null,
      to.sessionId ?? null,
      to.amount ?? null,
      to.currency ?? null,
      to.generation,
      ...stateValues(to),
      record.operation,
      record.attemptId,
      record.requestId ?? null,
      record.body,
      record.answer?.status ?? null,
      record.answer?.body ?? null,
      delivery?.operation ?? null,
      delivery?.state ?? null,
      delivery?.transactionTime ?? null,
      (delivery?.horizonMs ?? 0) / 1000,
      delivery?.settle?.amount ?? null,
      delivery?.settle?.resultType ?? null,
      commit.supersedes,
    ]);
    if (row !== undefined && row.operation_id !== null) return row.operation_id;
    // Either somebody was faster, or this is the repeat of a commit that was not reported.
    const [mine] = await this.#database.query<{ id: string }>(FIND_OPERATION, [
      to.transactionId,
      record.attemptId,
    ]);
    return mine?.id;
  }

  /**
   * Writes what an attempt brought and frees the bet.
   * @returns false when the attempt's lease had ended and the bet is no longer its own
   * @throws GatewayError `DATABASE_UNAVAILABLE`; the outcome may or may not be written
   */
  finish(outcome: Outcome): Promise<boolean> {
    return this.#outcomes.finish(outcome);
  }

  /** Calls unknown what a process that is gone left in flight; a no-op when it was freed since. */
  async recover(transactionId: string, attemptId: string): Promise<void> {
    await this.#database.query(RECOVER, [transactionId, attemptId]);
  }

  /**
   * Recovers what killed processes left in flight anywhere.
   * @returns the bets recovered, at most `limit`
   */
  async recoverLapsed(limit: number): Promise<readonly RecoveredBet[]> {
    return await this.#database.query(RECOVER_LAPSED, [limit]);
  }
}
