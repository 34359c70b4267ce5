import type { Prisma } from '../schema/prisma.ts';
import { sql } from '../schema/prisma.ts';
import { type AuditAction, type Authority, auditSql } from './audited.ts';

export interface AuditRow {
  readonly id: string;
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly actor: string;
  readonly role: string;
  readonly address: string;
  readonly action: string;
  /** What the action was applied to, such as `delivery 4711`. */
  readonly subject: string;
  readonly operator: string | null;
  readonly before: unknown;
  readonly after: unknown;
  readonly reason: string | null;
}

export interface AuditQuery {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly operator?: string | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

/** An action that changes no row of its own: signing in, looking at something, reloading. */
export interface AuditedDeed {
  readonly action: AuditAction;
  readonly subject: string;
  readonly operator?: string | undefined;
  readonly before?: unknown;
  readonly after?: unknown;
}

const PAGE_SIZE = 100;
const LOOK_MINUTES = 10;

/** The audit, newest first. Every method throws GatewayError `DATABASE_UNAVAILABLE`. */
export class AuditLog {
  readonly #prisma: Prisma;

  constructor(prisma: Prisma) {
    this.#prisma = prisma;
  }

  async append(by: Authority, deed: AuditedDeed): Promise<void> {
    const { action, subject, operator, before, after } = deed;
    await this.#prisma.$executeRaw(
      auditSql(
        by,
        action,
        sql`SELECT ${subject}::text, ${operator ?? null}::text, ${jsonOf(before)}::jsonb,
                   ${jsonOf(after)}::jsonb`,
      ),
    );
  }

  /** Records a look at something, at most once within some minutes: a page that refreshes is one look. */
  async appendView(by: Authority, deed: AuditedDeed): Promise<void> {
    const { action, subject, operator, after } = deed;
    await this.#prisma.$executeRaw(
      auditSql(
        by,
        action,
        sql`SELECT ${subject}::text, ${operator ?? null}::text, NULL::jsonb, ${jsonOf(after)}::jsonb
             WHERE NOT EXISTS (
               SELECT 1 FROM audit a
                WHERE a.actor = ${by.caller.actor} AND a.action = ${action}
                  AND a.subject = ${subject}
                  AND a.at > clock_timestamp() - make_interval(mins => ${LOOK_MINUTES}))`,
      ),
    );
  }

  async page(query: AuditQuery): Promise<{
    readonly items: readonly AuditRow[];
    /** Null on the last page. */
    readonly nextCursor: string | null;
  }> {
    const { actor, action, operator, from, to } = query;
    const isOfTimes = from !== undefined || to !== undefined;
    const rows = await this.#prisma.audit.findMany({
      where: {
        ...(actor !== undefined && { actor }),
        ...(action !== undefined && { action }),
        ...(operator !== undefined && { operatorId: operator }),
        ...(isOfTimes && { at: { ...(from && { gte: from }), ...(to && { lt: to }) } }),
        AND: await this.#behind(query.cursor, isOfTimes),
      },
      orderBy: isOfTimes ? [{ at: 'desc' }, { id: 'desc' }] : { id: 'desc' },
      // One more than shown, to know whether there is a next page.
      take: PAGE_SIZE + 1,
    });
    const items = rows.slice(0, PAGE_SIZE).map(({ id, at, operatorId, ...row }) => ({
      id: String(id),
      at: at.toISOString(),
      actor: row.actor,
      role: row.role,
      address: row.address,
      action: row.action,
      subject: row.subject,
      operator: operatorId,
      before: row.before,
      after: row.after,
      reason: row.reason,
    }));
    return { items, nextCursor: rows.length > PAGE_SIZE ? (items.at(-1)?.id ?? null) : null };
  }

  /** What comes after the last row of a page. Ranges of times are read by time: ids may be in another order. */
  async #behind(cursor: string | undefined, isOfTimes: boolean) {
    if (cursor === undefined) return [];
    const id = { lt: BigInt(cursor) };
    const last = isOfTimes ? await this.#at(cursor) : undefined;
    return last === undefined
      ? [{ id }]
      : [{ at: { lte: last } }, { OR: [{ at: { lt: last } }, { id }] }];
  }

  /** When the row of a cursor was written. */
  async #at(cursor: string): Promise<Date | undefined> {
    const found = await this.#prisma.audit.findUnique({
      where: { id: BigInt(cursor) },
      select: { at: true },
    });
    return found?.at;
  }

  /** All rows, read page by page. */
  async *all(query: Omit<AuditQuery, 'cursor'>): AsyncGenerator<AuditRow> {
    let cursor: string | null | undefined;
    do {
      const { items, nextCursor } = await this.page({ ...query, cursor: cursor ?? undefined });
      yield* items;
      cursor = nextCursor;
    } while (cursor !== null);
  }
}

/** PostgreSQL accepts neither U+0000 nor lone surrogates in JSON: a value with one must be recorded all the same. */
function jsonOf(value: unknown): string | null {
  if (value === undefined) return null;
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'string' ? member.toWellFormed().replaceAll('\0', '\u{fffd}') : member,
  );
}
