import type { Caller } from '../../domain/caller.ts';
import { type Sql, sql } from '../schema/prisma.ts';
import type { Parameters } from '../sql/statement.ts';

export const AUDIT_ACTIONS = [
  'delivery.retry',
  'delivery.resolve',
  'bet.resolve',
  'deliveries.release',
  'deliveries.hold',
  'deliveries.resume',
  'breaker.set',
  'sessions.revoke',
  'bonus.assign',
  'configuration.reload',
  'person.signed_in',
  'player.viewed',
  'player.exported',
  'player.forgotten',
  'reconciliation.resolved',
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Who decides on a change, and why. */
export interface Authority {
  readonly caller: Caller;
  readonly reason?: string | undefined;
}

const COLUMNS = 'action, actor, role, address, reason, subject, operator_id, before, after';

/**
 * Writes a row of the audit for each row of `changes`, in the statement of the change itself (I12).
 * @param changes selects subject, operator_id, before and after (jsonb), in this order
 */
export function auditSql(by: Authority, action: AuditAction, changes: Sql): Sql {
  const { actor, role, address } = by.caller;
  return sql`
    INSERT INTO audit (action, actor, role, address, reason, subject, operator_id, before, after)
    SELECT ${action}::text, ${actor}::text, ${role}::text, ${address}::text,
           ${by.reason ?? null}::text, c.*
      FROM (${changes}) AS c`;
}

/** The parameters of a statement that `auditText` uses. */
export const AUDITED: Parameters<{ readonly by: Authority }> = {
  actor: ['text', ({ by }) => by.caller.actor],
  role: ['text', ({ by }) => by.caller.role],
  address: ['text', ({ by }) => by.caller.address],
  reason: ['text', ({ by }) => by.reason ?? null],
};

/** The same for a typed statement with the parameters `AUDITED`. */
export function auditText(action: AuditAction, changes: string): string {
  return `
    INSERT INTO audit (${COLUMNS})
    SELECT '${action}', :actor, :role, :address, :reason, c.* FROM (${changes}) AS c`;
}
