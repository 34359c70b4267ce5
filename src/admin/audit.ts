import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type Caller, mayDo } from '../domain/caller.ts';
import { storableText } from '../lib/storable-text.ts';
import type { AuditLog, AuditRow } from '../store/audit/audit-log.ts';
import { AUDIT_ACTIONS } from '../store/audit/audited.ts';
import { json, send, sendPieces, serve } from './answers.ts';
import type { AdminApi } from './api.ts';
import { checkedQuery, cursorField, timeField, wordAmong } from './input.ts';
import { personalText } from './personal.ts';

const exportQuery = z.strictObject({
  actor: storableText(320).optional(),
  action: wordAmong(AUDIT_ACTIONS).optional(),
  operator: storableText(64).optional(),
  from: timeField.optional(),
  to: timeField.optional(),
});

const pageQuery = exportQuery.extend({ cursor: cursorField });

export interface AuditDependencies {
  readonly audit: Pick<AuditLog, 'page' | 'all'>;
}

/** Who changed what (I12). */
export function auditRoutes(app: FastifyInstance, { audit }: AuditDependencies): void {
  serve(app, 'GET', '/audit', 'read', async (request, caller) => {
    const query = checkedQuery(pageQuery, request);
    if (!('fields' in query)) return query;
    const { items, nextCursor } = await audit.page(query.fields);
    const shown = items.map((row) => shownTo(caller, row));
    return json({ items: shown, nextCursor } satisfies AdminApi['GET /admin/audit']);
  });

  app.get('/audit/export', { config: { right: 'read' } }, async (request, reply) => {
    const { caller } = request;
    if (caller === undefined) throw new Error('the audit was reached without its guard');
    const query = checkedQuery(exportQuery, request);
    if (!('fields' in query)) {
      send(reply, query);
      return reply;
    }
    reply.header('content-type', 'application/x-ndjson; charset=utf-8');
    reply.header('cache-control', 'no-store');
    return sendPieces(request, reply, () => lines(audit.all(query.fields), caller));
  });
}

/** If reading fails halfway, the connection breaks, so that no client takes the answer for complete. */
async function* lines(rows: AsyncIterable<AuditRow>, caller: Caller): AsyncGenerator<string> {
  for await (const row of rows) yield `${JSON.stringify(shownTo(caller, row))}\n`;
}

/** Hides the player of a row from callers who may not see personal data; the reason may name the player too. */
function shownTo(caller: Caller, row: AuditRow): AuditRow {
  const isOfPlayer = row.subject.startsWith('player ');
  if (!isOfPlayer || mayDo(caller, 'personal')) return row;
  const reason = personalText(caller, row.reason);
  return { ...row, subject: 'player ***', before: null, after: null, reason };
}
