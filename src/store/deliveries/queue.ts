import type { BetOwner } from '../../domain/bet.ts';
import type { DeliverableOperation } from '../../domain/operation.ts';
import type { Database } from '../database.ts';
import {
  COUNT_ENDED,
  COUNT_HELD,
  COUNT_OPEN,
  COUNT_UNRESOLVED,
  DUE_OPERATORS,
  NUDGE,
  OVERDUE_UNKNOWN,
  SERVER_TIME,
  TAKE,
  WAKE,
} from './statements.ts';

/** A delivery that this process has claimed, with all that its call needs. */
export interface TakenDelivery {
  readonly id: string;
  readonly operation: DeliverableOperation;
  readonly purpose: 'promise' | 'confirm';
  readonly transactionId: string;
  readonly operationId: string;
  /** Names this attempt in the bet's row: only it may finish. */
  readonly attemptId: string;
  /** Including this one. */
  readonly attempts: number;
  readonly confirmations: number;
  /** Its horizon is over: this attempt is the last one. */
  readonly overdue: boolean;
  readonly createdAt: Date;
  /** When the promise was made, as the service was told. */
  readonly transactionTime: string;
  /** As the service sent it. */
  readonly body: Buffer;
  readonly owner: BetOwner;
  readonly sessionId: string | undefined;
  /** The operator's token of that session, as it is stored, with the hash that it is bound to. */
  readonly sealedToken: { readonly sealed: Buffer; readonly tokenHash: Buffer } | undefined;
  /** Whether it is unknown if the wallet has taken the bet. */
  readonly placeUnknown: boolean;
}

export interface Claim {
  readonly taken: readonly TakenDelivery[];
  /** Nothing was due. Where something was and could not be taken, another look may bring more. */
  readonly isDry: boolean;
}

/** An operator with open deliveries. */
export interface OpenOperator {
  readonly operatorId: string;
  /** When the next of them is due, PostgreSQL's clock, epoch milliseconds. */
  readonly nextAtMs: number;
  /** Milliseconds until then; not positive when something may be tried now. */
  readonly nextInMs: number;
}

/** A place of unknown outcome that nobody has rolled back in time. */
export interface OverduePlace {
  readonly transactionId: string;
  /** The place, as the service sent it. */
  readonly body: Buffer;
}

export interface DeliveryCount {
  readonly operator: string;
  readonly operation: string;
  readonly state: string;
  readonly count: number;
}

/**
 * The queue of record. Rows become due by PostgreSQL's clock; a taken row is due again when its
 * lease ends. Every method throws GatewayError `DATABASE_UNAVAILABLE`.
 */
export class DeliveryStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Claims due deliveries of an operator: at most one operation of a bet, money operations in the
   * order of their promises, nothing of a bet that is busy (I6).
   * @param generation bets of an older one are held from now on
   * @param limit how many are looked at
   * @param which `money`: no data updates
   */
  async take(
    operatorId: string,
    generation: number,
    limit: number,
    which: 'money' | 'all' = 'all',
  ): Promise<Claim> {
    const values = [operatorId, generation, limit, which === 'all'];
    const rows = await this.#database.query<TakenRow | NothingTakenRow>(TAKE, values);
    const taken = rows.filter((row) => row.id !== null).map(takenOf);
    return { taken, isDry: rows[0]?.at === 0 };
  }

  /** Operators with open deliveries, cheaply: one index probe each. */
  async openOperators(): Promise<readonly OpenOperator[]> {
    return await this.#database.query<OpenOperator & Record<string, unknown>>(DUE_OPERATORS, []);
  }

  /** Makes everything of an operator due that waits for the end of a back-off, at most `limit`. */
  async wake(operatorId: string, limit: number): Promise<number> {
    return (await this.#database.query(WAKE, [operatorId, limit])).length;
  }

  /** Makes one delivery due, the next in turn, so that a half-open breaker has something to try. */
  async nudge(operatorId: string, generation: number): Promise<void> {
    await this.#database.query(NUDGE, [operatorId, generation]);
  }

  /** Counts held time, so that these operators' horizons stand still. Any replica may repeat it. */
  async countHeld(operatorIds: readonly string[]): Promise<void> {
    if (operatorIds.length > 0) await this.#database.query(COUNT_HELD, [operatorIds]);
  }

  /**
   * Places of unknown outcome that were never rolled back.
   * @param ages per operator, after how many milliseconds
   */
  async overdueUnknown(
    ages: ReadonlyMap<string, number>,
    limit: number,
  ): Promise<readonly OverduePlace[]> {
    return await this.#database.query<OverduePlace & Record<string, unknown>>(OVERDUE_UNKNOWN, [
      [...ages.keys()],
      [...ages.values()].map((ageMs) => ageMs / 1000),
      limit,
    ]);
  }

  /** Open and dead deliveries. */
  async countOpen(): Promise<readonly (DeliveryCount & { readonly oldestSeconds: number })[]> {
    return await this.#database.query(COUNT_OPEN, []);
  }

  /** Deliveries that ended after `from` and until `to`. */
  async countEnded(from: Date, to: Date): Promise<readonly DeliveryCount[]> {
    return await this.#database.query(COUNT_ENDED, [from, to]);
  }

  /** Places of unknown outcome without a rollback, by operator. */
  async countUnresolved(): Promise<
    readonly { readonly operator: string; readonly count: number }[]
  > {
    return await this.#database.query(COUNT_UNRESOLVED, []);
  }

  /** PostgreSQL's clock, a little behind, so that commits under way are not missed. */
  async settledBefore(): Promise<Date> {
    const [row] = await this.#database.query<{ now: Date }>(SERVER_TIME, []);
    if (row === undefined) throw new Error('PostgreSQL has no clock');
    return row.now;
  }
}

/** Something was looked at, but nothing of it could be taken. */
interface NothingTakenRow extends Record<string, unknown> {
  readonly at: number;
  readonly id: null;
}

interface TakenRow extends Record<string, unknown> {
  /** How many were looked at. */
  readonly at: number;
  readonly id: string;
  readonly operation: DeliverableOperation;
  readonly purpose: 'promise' | 'confirm';
  readonly transaction_id: string;
  readonly operation_id: string;
  readonly attempt_id: string;
  readonly attempts: number;
  readonly confirmations: number;
  readonly overdue: boolean;
  readonly created_at: Date;
  readonly transaction_time: string;
  readonly body: Buffer;
  readonly operator_id: string;
  readonly player_id: string;
  readonly user_id: string;
  readonly operator_user: string;
  readonly session_id: string | null;
  readonly operator_token: Buffer | null;
  readonly token_hash: Buffer | null;
  readonly place: string;
}

function takenOf(row: TakenRow): TakenDelivery {
  return {
    id: row.id,
    operation: row.operation,
    purpose: row.purpose,
    transactionId: row.transaction_id,
    operationId: row.operation_id,
    attemptId: row.attempt_id,
    attempts: row.attempts,
    confirmations: row.confirmations,
    overdue: row.overdue,
    createdAt: row.created_at,
    transactionTime: row.transaction_time,
    body: row.body,
    owner: {
      operatorId: row.operator_id,
      playerId: row.player_id,
      userId: row.user_id,
      operatorUser: row.operator_user,
    },
    sessionId: row.session_id ?? undefined,
    sealedToken:
      row.operator_token === null || row.token_hash === null
        ? undefined
        : { sealed: row.operator_token, tokenHash: row.token_hash },
    placeUnknown: row.place === 'unknown',
  };
}
