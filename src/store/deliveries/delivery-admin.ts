import { DELIVERY_LIFE, DELIVERY_PURPOSES, type DeliveryPurpose } from '../../domain/delivery.ts';
import { DELIVERABLE_OPERATIONS, type DeliverableOperation } from '../../domain/operation.ts';
import type { Prisma } from '../schema/prisma.ts';
import { DeliveryRetries } from './retries.ts';

/**
 * The words people use; `held` is a pending delivery whose operator takes none at the moment, or
 * whose bet is in the books of an older wallet.
 */
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
export const RETRYABLE_STATES = ['dead', 'pending', 'held'] as const;

export type RetryableState = (typeof RETRYABLE_STATES)[number];

export interface DeliveryItem {
  readonly id: string;
  readonly operator: string;
  readonly operation: DeliverableOperation;
  readonly transactionId: string;
  readonly state: DeliveryState;
  /** `confirm`: a wallet has confirmed it already, and it is sent once more by design. */
  readonly purpose: DeliveryPurpose;
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

export interface DeliveryPage {
  readonly items: readonly DeliveryItem[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

export type RetryResult =
  | { readonly kind: 'retried'; readonly item: DeliveryItem }
  | { readonly kind: 'notRetryable'; readonly state: DeliveryState }
  /** A later operation of the bet is on record: brought now, the old one would undo it (I6). */
  | { readonly kind: 'overtaken' }
  | { readonly kind: 'missing' };

export type ResolveResult =
  | { readonly kind: 'resolved'; readonly item: DeliveryItem }
  | { readonly kind: 'notResolvable'; readonly state: DeliveryState }
  | { readonly kind: 'missing' };

export interface DeliveryAdminOptions {
  readonly prisma: Prisma;
  /** Whether the operator takes no deliveries now: maintenance, an open breaker, no configuration. */
  readonly isHeld: (operatorId: string) => boolean;
  /** How long the gateway tries by itself (`delivery.horizonHours`). */
  readonly horizonHours: (operatorId: string) => number;
}

type Row = NonNullable<Awaited<ReturnType<Prisma['delivery']['findFirst']>>>;

const PAGE_SIZE = 100;
/** An id as PostgreSQL can hold one; anything else is nobody's. */
const ID = /^\d{1,18}$/;

/** What people do with deliveries: look, try again, put down as settled by hand. */
export class DeliveryAdmin {
  readonly #options: DeliveryAdminOptions;
  readonly #prisma: Prisma;
  readonly #retries: DeliveryRetries;

  constructor(options: DeliveryAdminOptions) {
    this.#options = options;
    this.#prisma = options.prisma;
    this.#retries = new DeliveryRetries(options.prisma, options.horizonHours);
  }

  /** One page, oldest first. A delivery that is being tried within its callback is not shown. */
  async list(query: DeliveryQuery): Promise<DeliveryPage> {
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

  /** How many there are of what `list` would show. */
  async count(query: Omit<DeliveryQuery, 'cursor' | 'limit'>): Promise<number> {
    const { operation } = query;
    return await this.#prisma.delivery.count({
      where: { ...(await this.#standing(query)), ...(operation !== undefined && { operation }) },
    });
  }

  /**
   * How many deliveries wait, how many are dead, and how many bets are unresolved (their place is
   * of unknown outcome and nobody has rolled it back), by operator; who has none is absent.
   */
  async counts(): Promise<
    Readonly<Record<'open' | 'dead' | 'unresolved', ReadonlyMap<string, number>>>
  > {
    const count = async (state: string) => {
      const rows = await this.#prisma.delivery.groupBy({
        by: ['operatorId'],
        where: { state },
        _count: true,
      });
      return new Map(rows.map((row) => [row.operatorId, row._count]));
    };
    const unresolved = async () => {
      const rows = await this.#prisma.bet.groupBy({
        by: ['operatorId'],
        where: {
          OR: [{ place: 'unknown' }, { place: 'accepted', placeAnsweredUnknown: true }],
          rollback: 'none',
          operatorId: { not: null },
        },
        _count: true,
      });
      return new Map(rows.map((row) => [row.operatorId ?? '', row._count]));
    };
    const counted = await Promise.all([count('pending'), count('dead'), unresolved()]);
    return { open: counted[0], dead: counted[1], unresolved: counted[2] };
  }

  /** Makes a waiting or dead delivery due now, with a new horizon: a person has looked at it. */
  async retry(id: string): Promise<RetryResult> {
    const before = await this.#find(id);
    if (before === undefined) return { kind: 'missing' };
    const retried =
      before.state === 'dead'
        ? await this.#retries.reopen(before.operatorId, [before.id])
        : await this.#retries.hurry(before.operatorId, [before.id]);
    const after = await this.#find(id);
    if (after === undefined) return { kind: 'missing' };
    // The sweep finds within a second what became due.
    if (retried > 0) return { kind: 'retried', item: this.#item(after) };
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
    return state === 'dead'
      ? await this.#retries.reopenAll(operatorId)
      : await this.#retries.hurryAll(operatorId);
  }

  /**
   * Takes a dead delivery off the list of what alarms: somebody has seen to it at the wallet.
   * @param who a person or a ticket, for the record
   */
  async resolve(id: string, who: string, why: string): Promise<ResolveResult> {
    const before = await this.#find(id);
    if (before === undefined) return { kind: 'missing' };
    const resolved = await this.#prisma.$executeRaw`
      UPDATE deliveries
         SET state = 'resolved', resolved_by = ${who}, resolved_why = ${why},
             settled_at = clock_timestamp()
       WHERE id = ${before.id} AND state = 'dead'`;
    const after = await this.#find(id);
    if (after === undefined) return { kind: 'missing' };
    return resolved > 0
      ? { kind: 'resolved', item: this.#item(after) }
      : { kind: 'notResolvable', state: this.#stateOf(after) };
  }

  /**
   * Lets the operator's present wallet be asked about bets of generations up to this one; until
   * then their operations are held (`wallet.generation`).
   */
  async release(operatorId: string, generation: number): Promise<void> {
    // What waited for this word has not aged meanwhile: its whole horizon begins now.
    await this.#prisma.$executeRaw`
      WITH hold AS (
        INSERT INTO operator_holds AS h (operator_id, released, counted_at)
        VALUES (${operatorId}, ${generation}, clock_timestamp())
        ON CONFLICT (operator_id) DO UPDATE SET released = greatest(h.released, excluded.released)
      )
      UPDATE deliveries d
         SET dead_at = greatest(d.dead_at, clock_timestamp() + (d.dead_at - d.created_at)),
             held = false,
             next_attempt_at = CASE WHEN d.held THEN clock_timestamp() ELSE d.next_attempt_at END
        FROM bets b
       WHERE d.operator_id = ${operatorId} AND d.state = 'pending'
         AND b.transaction_id = d.transaction_id AND b.generation < ${generation}`;
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
    const byOperator = { operatorId: { in: fitting } };
    return state === 'held'
      ? { ...ofOperator, state: 'pending', OR: [byOperator, { held: true }] }
      : { ...byOperator, state: 'pending', held: false };
  }

  async #operatorsWaiting(): Promise<readonly string[]> {
    const rows = await this.#prisma.delivery.groupBy({
      by: ['operatorId'],
      where: { state: 'pending' },
    });
    return rows.map((row) => row.operatorId);
  }

  /** @throws Error for a state that this release does not know */
  #stateOf(row: Row): DeliveryState {
    const state = known(DELIVERY_LIFE, row.state);
    if (state === 'live') return 'pending';
    if (state !== 'pending') return state;
    return row.held || this.#options.isHeld(row.operatorId) ? 'held' : 'pending';
  }

  #item(row: Row): DeliveryItem {
    return {
      id: String(row.id),
      operator: row.operatorId,
      operation: known(DELIVERABLE_OPERATIONS, row.operation),
      transactionId: row.transactionId,
      state: this.#stateOf(row),
      purpose: known(DELIVERY_PURPOSES, row.purpose),
      attempts: row.attempts,
      lastError: row.lastError,
      nextAttemptAt: row.state === 'pending' ? row.nextAttemptAt.toISOString() : null,
      createdAt: row.createdAt.toISOString(),
    };
  }
}

/** @throws Error for a value of a newer schema: it is not acted on */
function known<const T extends string>(values: readonly T[], value: string): T {
  const found = values.find((one) => one === value);
  if (found === undefined) throw new Error(`no such value here: ${value}`);
  return found;
}

function idOf(text: string): bigint | undefined {
  return ID.test(text) ? BigInt(text) : undefined;
}
