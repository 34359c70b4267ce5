import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Reconciler } from '../books/reconciliation/reconciler.ts';
import type { Configuration } from '../config/schema/schema.ts';
import { BY_CHARS_MAX, REASON_CHARS_MAX } from '../domain/caller.ts';
import { DELIVERABLE_OPERATIONS } from '../domain/operation.ts';
import { unreachable } from '../domain/unreachable.ts';
import { storableText } from '../lib/storable-text.ts';
import type { Answer } from '../protocol/answers.ts';
import {
  type DeliveryAdmin,
  type DeliveryPage,
  RETRIED_AT_ONCE_MAX,
  RETRYABLE_STATES,
  type ResolveResult,
  type RetryResult,
} from '../store/deliveries/delivery-admin.ts';
import { DELIVERY_STATES } from '../store/deliveries/delivery-item.ts';
import { conflict, json, notFoundAnswer, serve } from './answers.ts';
import type { AdminApi } from './api.ts';
import {
  auditedText,
  checkedBody,
  checkedOptionalBody,
  checkedPath,
  checkedQuery,
  cursorField,
  looseReasonBody,
  reasonField,
  wordAmong,
} from './input.ts';
import { errorText } from './personal.ts';

const countQuery = z.strictObject({
  operator: storableText(64).optional(),
  state: wordAmong(DELIVERY_STATES).optional(),
  operation: wordAmong(DELIVERABLE_OPERATIONS).optional(),
});

const listQuery = countQuery.extend({
  cursor: cursorField,
});

const deliveryPath = z.object({ id: z.string() });

const retryBody = z.strictObject({
  operator: z.string('must be a string'),
  state: wordAmong(RETRYABLE_STATES),
  operation: wordAmong(DELIVERABLE_OPERATIONS).optional(),
  limit: z
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(RETRIED_AT_ONCE_MAX, `must be at most ${RETRIED_AT_ONCE_MAX}`)
    .optional(),
  cursor: cursorField,
  reason: reasonField,
});

const resolveBody = z.strictObject({
  by: auditedText(BY_CHARS_MAX),
  reason: auditedText(REASON_CHARS_MAX),
});

export interface Deliveries {
  readonly configuration: () => Configuration;
  readonly deliveryAdmin: Pick<DeliveryAdmin, 'list' | 'count' | 'retry' | 'retrySome' | 'resolve'>;
  readonly reconciler: Pick<Reconciler, 'knows'>;
}

/** Lists, counts, retries and resolves deliveries, for the people on duty (I4). */
export function deliveryRoutes(
  app: FastifyInstance,
  { configuration, deliveryAdmin, reconciler }: Deliveries,
): void {
  const isConfigured = (operatorId: string) => configuration().operators.has(operatorId);

  serve(app, 'GET', '/deliveries', 'read', async (request, caller) => {
    const query = checkedQuery(listQuery, request);
    if (!('fields' in query)) return query;
    const { items, nextCursor } = await deliveryAdmin.list(query.fields);
    const { operator } = query.fields;
    // An operator whose file is gone may have deliveries in other states; a misspelt id has no bets at all.
    const isNobody =
      operator !== undefined && items.length === 0 && !(await reconciler.knows(operator));
    if (isNobody) return notFoundAnswer('No such operator');
    const shown = items.map((item) => ({ ...item, lastError: errorText(caller, item.lastError) }));
    return json({ items: shown, nextCursor } satisfies DeliveryPage);
  });

  serve(app, 'GET', '/deliveries/count', 'read', async (request) => {
    const query = checkedQuery(countQuery, request);
    if (!('fields' in query)) return query;
    const { count, isAtLeast } = await deliveryAdmin.count(query.fields);
    return countAnswer(isAtLeast ? { count, isAtLeast } : { count });
  });

  serve(app, 'POST', '/deliveries/retry', 'operate', async (request, caller) => {
    const input = checkedBody(retryBody, request);
    if (!('fields' in input)) return input;
    const { operator, state, reason, limit, ...which } = input.fields;
    if (!isConfigured(operator)) return notFoundAnswer('No such operator');
    // A million take minutes: the client would time out and never learn how many were retried.
    const some = { ...which, limit: limit ?? RETRIED_AT_ONCE_MAX };
    const by = { caller, reason };
    const { retried, nextCursor } = await deliveryAdmin.retrySome(operator, state, some, by);
    const isAll = limit === undefined && nextCursor === null;
    return retriedAnswer(isAll ? { retried } : { retried, nextCursor });
  });

  serve(app, 'POST', '/deliveries/:id/retry', 'operate', async (request, caller) => {
    const path = checkedPath(deliveryPath, request);
    if (!('fields' in path)) return path;
    const input = checkedOptionalBody(looseReasonBody, request);
    if (!('fields' in input)) return input;
    const by = { caller, reason: input.fields.reason };
    return retryAnswer(await deliveryAdmin.retry(path.fields.id, by));
  });

  serve(app, 'POST', '/deliveries/:id/resolve', 'operate', async (request, caller) => {
    const path = checkedPath(deliveryPath, request);
    if (!('fields' in path)) return path;
    const input = checkedBody(resolveBody, request);
    if (!('fields' in input)) return input;
    const { by, reason } = input.fields;
    return resolveAnswer(
      await deliveryAdmin.resolve(path.fields.id, by, reason, { caller, reason }),
    );
  });
}

const countAnswer = (answer: AdminApi['GET /admin/deliveries/count']) => json(answer);
const retriedAnswer = (answer: AdminApi['POST /admin/deliveries/retry']) => json(answer);

function retryAnswer(result: RetryResult): Answer {
  switch (result.kind) {
    case 'retried':
      return json(result.item);
    case 'overtaken':
      return conflict('A later operation of this bet has overtaken it: it can only be resolved');
    case 'atItsLast':
      return conflict(
        'Its last attempt is under way, or has just ended: look again in a few seconds',
      );
    case 'notRetryable':
      return conflict(`It is ${result.state}: only dead and waiting deliveries are retried`);
    case 'missing':
      return notFoundAnswer('No such delivery');
    default:
      return unreachable(result);
  }
}

function resolveAnswer(result: ResolveResult): Answer {
  switch (result.kind) {
    case 'resolved':
      return json(result.item);
    case 'changing':
      return conflict('It is changing at this moment: look again');
    case 'notResolvable':
      return conflict(`It is ${result.state}: only dead deliveries are resolved by hand`);
    case 'missing':
      return notFoundAnswer('No such delivery');
    default:
      return unreachable(result);
  }
}
