import type { DeliverableOperation } from '../domain/operation.ts';
import type { Prisma } from './prisma.ts';

/** The words people use; `held` is a pending delivery whose operator takes none at the moment. */
export const DELIVERY_STATES = [
  'pending',
  'held',
  'delivered',
  'refused',
  'superseded',
  'dead',
  'resolved',
] as const;

export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** States that `retryAll` takes. */
export type RetryableState = 'dead' | 'pending' | 'held';

export interface DeliveryItem {
  readonly id: string;
  readonly operator: string;
  readonly operation: string;
  readonly transactionId: string;
  readonly state: string;
  readonly attempts: number;
  readonly lastError: string | null;
  /** ISO 8601 UTC; null where no further attempt is to come. */
  readonly nextAttemptAt: string | null;
  readonly createdAt: string;
}

export interface DeliveryQuery {
  readonly operator?: string | undefined;
  readonly state?: DeliveryState | undefined;
  readonly operation?: DeliverableOperation | undefined;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}

export type RetryResult =
  | { readonly kind: 'retried'; readonly item: DeliveryItem }
  | { readonly kind: 'notRetryable'; readonly state: string }
  /** A later operation of the bet was recorded: brought now, the old one would undo it (I6). */
  | { readonly kind: 'overtaken' }
  | { readonly kind: 'missing' };

export type ResolveResult =
  | { readonly kind: 'resolved'; readonly item: DeliveryItem }
  | { readonly kind: 'notResolvable'; readonly state: string }
  | { readonly kind: 'missing' };

export interface DeliveryDeskOptions {
  readonly prisma: Prisma;
  /** Whether the operator takes no deliveries now: maintenance, an open breaker, no configuration. */
  readonly isHeld: (operatorId: string) => boolean;
  /** How long the gateway tries by itself (`delivery.horizonHours`). */
  readonly horizonHours: (operatorId: string) => number;
  /** Something of this operator became due. */
  readonly onRetry: (operatorId: string) => void;
}

type Row = NonNullable<Awaited<ReturnType<Prisma['delivery']['findFirst']>>>;

const PAGE_SIZE = 100;
const BATCH_SIZE = 500;
/** How often a delivery is looked at again whose bet moved while it was to be reopened. */
const ROUNDS_MAX = 3;
/** An id as PostgreSQL can hold one; anything else is nobody's. */
const ID = /^\d{1,18}$/;

/** What people do with deliveries: look, try again, put down as settled by hand. */
export class DeliveryDesk {
  readonly #options: DeliveryDeskOptions;
  readonly #prisma: Prisma;

  constructor(options: DeliveryDeskOptions) {
    this.#options = options;
    this.#prisma = options.prisma;
  }

  /** One page, oldest first. A delivery that is being tried within its callback is not shown. */
  async list(
    query: DeliveryQuery,
  ): Promise<{ readonly items: readonly DeliveryItem[]; readonly nextCursor: string | null }> {
    const { operation, cursor, limit = PAGE_SIZE } = query;
    const rows = await this.#prisma.delivery.findMany({
      where: {
        ...(await this.#standing(query)),
        ...(operation !== undefined && { operation }),
        ...(cursor !== undefined && { id: { gt: idOf(cursor) ?? 0n } }),
      },
      orderBy: { id: 'asc' },
      // One more than is shown tells whether there is a next page.
      take: limit + 1,
    });
    const items = rows.slice(0, limit).map((row) => this.#item(row));
    return { items, nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
  }

  /** How many deliveries wait and how many are dead, by operator; operators with none are absent. */
  async counts(): Promise<Record<'open' | 'dead', ReadonlyMap<string, number>>> {
    const count = async (state: string) => {
      const rows = await this.#prisma.delivery.groupBy({
        by: ['operatorId'],
        where: { state },
        _count: true,
      });
      return new Map(rows.map((row) => [row.operatorId, row._count]));
    };
    const [open, dead] = await Promise.all([count('pending'), count('dead')]);
    return { open, dead };
  }

  /** Makes a waiting or dead delivery due now, with a new horizon: a person has looked at it. */
  async retry(id: string): Promise<RetryResult> {
    const before = await this.#find(id);
    if (before === undefined) return { kind: 'missing' };
    const done =
      before.state === 'dead'
        ? await this.#reopen(before.operatorId, [before.id])
        : await this.#hurry(before.operatorId, [before.id]);
    const after = await this.#find(id);
    if (after === undefined) return { kind: 'missing' };
    if (done > 0) {
      this.#options.onRetry(after.operatorId);
      return { kind: 'retried', item: this.#item(after) };
    }
    if (after.state === 'dead') return { kind: 'overtaken' };
    return { kind: 'notRetryable', state: this.#stateOf(after) };
  }

  /**
   * `retry` for all of an operator's deliveries in that state, except those that a later operation
   * has overtaken and those that a wallet has confirmed already: the repetition of an unknown
   * place's rollback is late on purpose.
   * @returns how many are due now
   */
  async retryAll(operatorId: string, state: RetryableState): Promise<number> {
    if (state !== 'dead' && this.#options.isHeld(operatorId) !== (state === 'held')) return 0;
    const where =
      state === 'dead'
        ? { operatorId, state }
        : { operatorId, state: 'pending', purpose: 'promise', confirmations: 0 };
    let retried = 0;
    let after = 0n;
    for (;;) {
      const rows = await this.#prisma.delivery.findMany({
        where: { ...where, id: { gt: after } },
        select: { id: true },
        orderBy: { id: 'asc' },
        take: BATCH_SIZE,
      });
      const last = rows.at(-1);
      if (last === undefined) break;
      after = last.id;
      const ids = rows.map(({ id }) => id);
      retried +=
        state === 'dead' ? await this.#reopen(operatorId, ids) : await this.#hurry(operatorId, ids);
    }
    if (retried > 0) this.#options.onRetry(operatorId);
    return retried;
  }

  /**
   * Takes a dead delivery off the list of what alarms: somebody has seen to it at the wallet.
   * @param who a person or a ticket, for the record
   */
  async resolve(id: string, who: string, why: string): Promise<ResolveResult> {
    const before = await this.#find(id);
    if (before === undefined) return { kind: 'missing' };
    const done = await this.#prisma.$executeRaw`
      UPDATE deliveries
         SET state = 'resolved', resolved_by = ${who}, resolved_why = ${why},
             settled_at = clock_timestamp()
       WHERE id = ${before.id} AND state = 'dead'`;
    const after = await this.#find(id);
    if (after === undefined) return { kind: 'missing' };
    return done > 0
      ? { kind: 'resolved', item: this.#item(after) }
      : { kind: 'notResolvable', state: this.#stateOf(after) };
  }

  async #find(id: string): Promise<Row | undefined> {
    const known = idOf(id);
    if (known === undefined) return undefined;
    const where = { id: known, state: { not: 'live' } };
    return (await this.#prisma.delivery.findFirst({ where })) ?? undefined;
  }

  /** The rows in a state and of an operator, `held` and `pending` told apart by operator. */
  async #standing({ operator, state }: DeliveryQuery) {
    const ofOperator = operator === undefined ? {} : { operatorId: operator };
    if (state === undefined) return { ...ofOperator, state: { not: 'live' } };
    if (state !== 'held' && state !== 'pending') return { ...ofOperator, state };
    const operators = operator === undefined ? await this.#operatorsWaiting() : [operator];
    const fitting = operators.filter((id) => this.#options.isHeld(id) === (state === 'held'));
    return { operatorId: { in: fitting }, state: 'pending' };
  }

  async #operatorsWaiting(): Promise<readonly string[]> {
    const rows = await this.#prisma.delivery.groupBy({
      by: ['operatorId'],
      where: { state: 'pending' },
    });
    return rows.map((row) => row.operatorId);
  }

  /** Pending deliveries are due now. Nothing can have overtaken them: the journal sees them. */
  async #hurry(operatorId: string, ids: readonly bigint[]): Promise<number> {
    return await this.#prisma.$executeRaw`
      UPDATE deliveries d
         SET next_attempt_at = least(d.next_attempt_at, clock_timestamp()),
             dead_at = clock_timestamp() + make_interval(secs => ${this.#horizon(operatorId)}),
             held_ms = coalesce((SELECT h.held_ms FROM operator_holds h
                                  WHERE h.operator_id = d.operator_id), 0)
       WHERE d.id = ANY (${ids}::bigint[]) AND d.state = 'pending'`;
  }

  /**
   * Dead deliveries are pending again. The journal did not see them while they were dead, so a
   * later operation of their bet may have passed them; the bet's version tells whether one comes
   * in between, as it does for every other decision on a bet.
   */
  async #reopen(operatorId: string, ids: readonly bigint[]): Promise<number> {
    let reopened = 0;
    for (let round = 0; round < ROUNDS_MAX && reopened < ids.length; round += 1) {
      const chosen = await this.#prisma.$queryRaw<{ id: bigint; version: number }[]>`
        SELECT d.id, b.version
          FROM deliveries d JOIN bets b ON b.transaction_id = d.transaction_id
         WHERE d.id = ANY (${ids}::bigint[]) AND d.state = 'dead'
           AND NOT EXISTS (
             SELECT 1 FROM operations o
              WHERE o.transaction_id = d.transaction_id AND o.id > d.operation_id
                AND CASE d.operation WHEN 'rollback' THEN false
                                     WHEN 'update' THEN o.operation IN ('update', 'rollback')
                                     ELSE o.operation IN ('settle', 'unsettle', 'rollback') END)`;
      if (chosen.length === 0) break;
      reopened += await this.#prisma.$executeRaw`
        WITH chosen AS (
          SELECT d.id, d.transaction_id, c.version
            FROM unnest(${chosen.map(({ id }) => id)}::bigint[],
                        ${chosen.map(({ version }) => version)}::int[]) AS c (id, version)
            JOIN deliveries d ON d.id = c.id
        ), bet AS (
          UPDATE bets b SET version = b.version + 1
            FROM (SELECT DISTINCT transaction_id, version FROM chosen) c
           WHERE b.transaction_id = c.transaction_id AND b.version = c.version
          RETURNING b.transaction_id
        )
        UPDATE deliveries d
           SET state = 'pending', settled_at = NULL, next_attempt_at = clock_timestamp(),
               dead_at = clock_timestamp() + make_interval(secs => ${this.#horizon(operatorId)}),
               held_ms = coalesce((SELECT h.held_ms FROM operator_holds h
                                    WHERE h.operator_id = d.operator_id), 0)
          FROM chosen c JOIN bet ON bet.transaction_id = c.transaction_id
         WHERE d.id = c.id AND d.state = 'dead'`;
    }
    return reopened;
  }

  /** Seconds. */
  #horizon(operatorId: string): number {
    return this.#options.horizonHours(operatorId) * 3_600;
  }

  #stateOf(row: Row): string {
    return row.state === 'pending' && this.#options.isHeld(row.operatorId) ? 'held' : row.state;
  }

  #item(row: Row): DeliveryItem {
    return {
      id: String(row.id),
      operator: row.operatorId,
      operation: row.operation,
      transactionId: row.transactionId,
      state: this.#stateOf(row),
      attempts: row.attempts,
      lastError: row.lastError,
      nextAttemptAt: row.state === 'pending' ? row.nextAttemptAt.toISOString() : null,
      createdAt: row.createdAt.toISOString(),
    };
  }
}

function idOf(text: string): bigint | undefined {
  return ID.test(text) ? BigInt(text) : undefined;
}
