import type { Authority } from '../audit/audited.ts';
import type { Prisma } from '../schema/prisma.ts';
import { resolveDead } from './dead-letters.ts';
import {
  type DeliveryItem,
  type DeliveryRecord,
  type DeliveryState,
  deliveryItemOf,
  deliveryStateOf,
} from './delivery-item.ts';
import { type Counted, countDeliveries, type DeliveryQuery, rowsMeant } from './delivery-query.ts';
import { DeliveryHolds } from './holds.ts';
import { type Release, releaseGeneration } from './release.ts';
import { DeliveryRetries } from './retries.ts';

/** The most deliveries that one bulk retry reads, which takes some seconds; it then returns a cursor. */
export const RETRIED_AT_ONCE_MAX = 10_000;

/** States that `retrySome` takes. */
export const RETRYABLE_STATES = ['dead', 'pending', 'held'] as const;

export type RetryableState = (typeof RETRYABLE_STATES)[number];

export interface DeliveryPage {
  readonly items: readonly DeliveryItem[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

export type RetryResult =
  | { readonly kind: 'retried'; readonly item: DeliveryItem }
  | { readonly kind: 'notRetryable'; readonly state: DeliveryState }
  /** A later operation of the bet is recorded: delivered now, the old one would undo it (I6). */
  | { readonly kind: 'overtaken' }
  /** Its last attempt is in flight or has just ended: the outcome decides whether there is anything to retry. */
  | { readonly kind: 'atItsLast' }
  | { readonly kind: 'missing' };

export type ResolveResult =
  | { readonly kind: 'resolved'; readonly item: DeliveryItem }
  | { readonly kind: 'notResolvable'; readonly state: DeliveryState }
  /** It has died, or its bet has changed, during this request: nothing was written. */
  | { readonly kind: 'changing' }
  | { readonly kind: 'missing' };

export interface DeliveryAdminOptions {
  readonly prisma: Prisma;
  /** Whether the operator takes no deliveries now: maintenance, an open breaker, no configuration. */
  readonly isHeld: (operatorId: string) => boolean;
  /** How long the gateway tries by itself (`delivery.horizonHours`). */
  readonly horizonHours: (operatorId: string) => number;
}

const PAGE_SIZE = 100;
const COUNTED_FOR_MS = 3_000;
/** An id that PostgreSQL can hold; no delivery has any other. */
const ID = /^\d{1,18}$/;

/** What people do with deliveries: list, count, retry, resolve, release. */
export class DeliveryAdmin {
  readonly #options: DeliveryAdminOptions;
  readonly #prisma: Prisma;
  readonly #retries: DeliveryRetries;
  readonly #holds: DeliveryHolds;

  constructor(options: DeliveryAdminOptions) {
    this.#options = options;
    this.#prisma = options.prisma;
    this.#holds = new DeliveryHolds(options.prisma);
    this.#retries = new DeliveryRetries(options.prisma, options.horizonHours);
  }

  /** One page, oldest first. Omits deliveries attempted inside their callbacks. */
  async list(query: DeliveryQuery): Promise<DeliveryPage> {
    const { cursor, limit = PAGE_SIZE } = query;
    const rows = await this.#prisma.delivery.findMany({
      where: {
        ...(await rowsMeant(this.#prisma, query, () => this.heldNow())),
        ...(cursor !== undefined && { id: { gt: idOf(cursor) ?? 0n } }),
      },
      orderBy: { id: 'asc' },
      // One more than the page shows whether there is a next one.
      take: limit + 1,
    });
    const isHeld = await this.heldNow();
    const items = rows.slice(0, limit).map((row) => deliveryItemOf(row, isHeld));
    return { items, nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
  }

  /** How many `list` would return. @param forMs counting stops after this time, but not before the first piece */
  async count(
    query: Omit<DeliveryQuery, 'cursor' | 'limit'>,
    forMs = COUNTED_FOR_MS,
  ): Promise<Counted> {
    const untilMs = performance.now() + forMs;
    return await countDeliveries(this.#prisma, query, () => this.heldNow(), untilMs);
  }

  /** Makes a waiting or dead delivery due now, with a new horizon. */
  async retry(id: string, by: Authority): Promise<RetryResult> {
    const before = await this.#find(id);
    if (before === undefined) return { kind: 'missing' };
    const { operatorId, state } = before;
    const ids = [before.id];
    const reopened = state === 'dead' ? await this.#retries.reopen(operatorId, ids, by) : 0;
    // Also one that somebody else has just reopened; but one that has just died needs a new decision.
    const retried = reopened > 0 ? reopened : await this.#retries.hurry(operatorId, ids, by);
    const after = await this.#find(id);
    if (after === undefined) return { kind: 'missing' };
    // The workers' sweep picks it up within a second.
    if (retried > 0) return { kind: 'retried', item: deliveryItemOf(after, await this.heldNow()) };
    const { state: now } = after;
    if (state === 'pending' && (now === 'pending' || now === 'dead')) return { kind: 'atItsLast' };
    if (now === 'dead') return { kind: 'overtaken' };
    return { kind: 'notRetryable', state: deliveryStateOf(after, await this.heldNow()) };
  }

  /**
   * `retry` for an operator's deliveries in that state, except overtaken ones and confirmed ones, whose repeat is late
   * on purpose. `which` limits it to a page; the caller continues with `nextCursor`.
   * @returns how many are due now
   */
  async retrySome(
    operatorId: string,
    state: RetryableState,
    which: Pick<DeliveryQuery, 'operation' | 'cursor' | 'limit'>,
    by: Authority,
  ): Promise<{ readonly retried: number; readonly nextCursor: string | null }> {
    const isHeld = (await this.heldNow())(operatorId);
    if (state === 'pending' && isHeld) return { retried: 0, nextCursor: null };
    const { operation, cursor, limit } = which;
    const range = { operation, limit, after: cursor === undefined ? undefined : idOf(cursor) };
    // If the operator itself is not held, only those held because of their bets, as in the list.
    const held = isHeld ? undefined : state === 'held';
    const { retried, after } = await (state === 'dead'
      ? this.#retries.retryAll(operatorId, { state, ...range }, by)
      : this.#retries.retryAll(operatorId, { state: 'pending', held, ...range }, by));
    return { retried, nextCursor: after === undefined ? null : String(after) };
  }

  /** A person has settled it at the wallet, which ends its alert. @param who a person or a ticket, for the record */
  async resolve(id: string, who: string, why: string, by: Authority): Promise<ResolveResult> {
    const before = await this.#find(id);
    if (before === undefined) return { kind: 'missing' };
    const resolved = await resolveDead(this.#prisma, before.id, { who, why, by });
    const after = await this.#find(id);
    if (after === undefined) return { kind: 'missing' };
    if (!resolved && after.state === 'dead') return { kind: 'changing' };
    const isHeld = await this.heldNow();
    return resolved
      ? { kind: 'resolved', item: deliveryItemOf(after, isHeld) }
      : { kind: 'notResolvable', state: deliveryStateOf(after, isHeld) };
  }

  /** Releases bets up to this generation, held until then (`wallet.generation`), to the operator's present wallet. */
  async release(operatorId: string, which: Release, by: Authority): Promise<void> {
    await releaseGeneration(this.#prisma, operatorId, which, by);
  }

  async #find(id: string): Promise<DeliveryRecord | undefined> {
    const known = idOf(id);
    if (known === undefined) return undefined;
    const where = { id: known, state: { not: 'live' } };
    return (await this.#prisma.delivery.findFirst({ where })) ?? undefined;
  }

  /** Whether an operator takes no deliveries now, because of its state or a person's hold. */
  async heldNow(): Promise<(operatorId: string) => boolean> {
    const byPeople = await this.#holds.all();
    return (operatorId) => byPeople.has(operatorId) || this.#options.isHeld(operatorId);
  }
}

function idOf(text: string): bigint | undefined {
  return ID.test(text) ? BigInt(text) : undefined;
}
