import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type ColumnNames, readColumnNames } from '../books/reconciliation/columns.ts';
import { Incomparable } from '../books/reconciliation/incomparable.ts';
import type { Reconciler } from '../books/reconciliation/reconciler.ts';
import { type Caller, REASON_CHARS_MAX } from '../domain/caller.ts';
import { CODES } from '../domain/codes.ts';
import { DIFFERENCE_KINDS } from '../domain/reconciliation.ts';
import { unreachable } from '../domain/unreachable.ts';
import { storableText } from '../lib/storable-text.ts';
import { type Answer, failure } from '../protocol/answers.ts';
import type { ReconciliationDifferences } from '../store/reconciliation/differences.ts';
import type { ReconciliationItem } from '../store/reconciliation/run-item.ts';
import type { ReconciliationRuns } from '../store/reconciliation/runs.ts';
import { conflict, json, notFoundAnswer, serve } from './answers.ts';
import type { AdminApi } from './api.ts';
import {
  auditedText,
  checkedBody,
  checkedPath,
  checkedQuery,
  cursorField,
  dayField,
  invalidField,
  wordAmong,
} from './input.ts';
import { takesItsTime } from './slow-requests.ts';

const uploadQuery = z.strictObject({
  operator: storableText(64),
  from: dayField,
  to: dayField,
  columns: storableText(1_000).optional(),
});
const listQuery = z.strictObject({ operator: storableText(64).optional(), cursor: cursorField });
const differencesQuery = z.strictObject({
  kind: wordAmong(DIFFERENCE_KINDS).optional(),
  resolved: wordAmong(['true', 'false']).optional(),
  cursor: cursorField,
});
/** An id that fits PostgreSQL's type; anything else names nothing. */
const ID = /^\d{1,18}$/;
const runPath = z.object({ id: z.string() });
const differencePath = runPath.extend({ difference: z.string() });
const resolveBody = z.strictObject({ reason: auditedText(REASON_CHARS_MAX) });

export interface ReconciliationDependencies {
  readonly reconciler: Pick<Reconciler, 'knows' | 'receive'>;
  readonly reconciliations: Pick<ReconciliationRuns, 'find' | 'list' | 'failLost'>;
  readonly differences: Pick<ReconciliationDifferences, 'list' | 'resolve'>;
}

/** Reconciliations of operators' lists with the journal, and their differences. */
export function reconciliationRoutes(
  app: FastifyInstance,
  dependencies: ReconciliationDependencies,
): void {
  const { reconciliations } = dependencies;
  // Bodies of any length are streamed: a plugin of its own, so that no parser buffers them.
  app.register(async (uploads) => {
    uploads.removeAllContentTypeParsers();
    uploads.addContentTypeParser('*', (_request, _payload, done) => done(null));
    serve(uploads, 'POST', '/reconciliations', 'books', (request, caller) =>
      receive(dependencies, request, caller),
    );
  });

  serve(app, 'GET', '/reconciliations', 'read', async (request) => {
    const query = checkedQuery(listQuery, request);
    if (!('fields' in query)) return query;
    await reconciliations.failLost();
    const page = await reconciliations.list(query.fields);
    return json(page satisfies AdminApi['GET /admin/reconciliations']);
  });

  serve(app, 'GET', '/reconciliations/:id', 'read', async (request) => {
    await reconciliations.failLost();
    const run = await runOf(dependencies, request);
    return run === undefined
      ? notFoundAnswer('No such reconciliation')
      : json(run satisfies AdminApi['GET /admin/reconciliations/:id']);
  });
  differenceRoutes(app, dependencies);
}

function differenceRoutes(app: FastifyInstance, dependencies: ReconciliationDependencies): void {
  const { differences } = dependencies;
  serve(app, 'GET', '/reconciliations/:id/differences', 'read', async (request) => {
    const query = checkedQuery(differencesQuery, request);
    if (!('fields' in query)) return query;
    const run = await runOf(dependencies, request);
    if (run === undefined) return notFoundAnswer('No such reconciliation');
    // An empty list would look like agreement.
    if (run.state === 'failed') return conflict(`It could not be compared: ${run.why}`);
    if (run.state !== 'done') return conflict('The comparison is not finished yet');
    const { kind, resolved, cursor: after } = query.fields;
    const page = await differences.list({
      runId: run.id,
      kind,
      resolved: resolved === undefined ? undefined : resolved === 'true',
      cursor: after,
    });
    return json(page satisfies AdminApi['GET /admin/reconciliations/:id/differences']);
  });

  serve(
    app,
    'POST',
    '/reconciliations/:id/differences/:difference/resolve',
    'books',
    async (request, caller) => {
      const path = checkedPath(differencePath, request);
      if (!('fields' in path)) return path;
      const body = checkedBody(resolveBody, request);
      if (!('fields' in body)) return body;
      const { id, difference } = path.fields;
      if (!ID.test(id) || !ID.test(difference)) return notFoundAnswer('No such difference');
      return resolved(
        await differences.resolve(id, difference, { caller, reason: body.fields.reason }),
      );
    },
  );
}

async function receive(
  { reconciler }: ReconciliationDependencies,
  request: FastifyRequest,
  caller: Caller,
): Promise<Answer> {
  const query = checkedQuery(uploadQuery, request);
  if (!('fields' in query)) return query;
  const { operator, from, to, columns } = query.fields;
  if (from > to) return invalidField('to', 'must not be before from');
  let names: ColumnNames;
  try {
    names = columns === undefined ? new Map() : readColumnNames(columns);
  } catch (error) {
    if (!(error instanceof Incomparable)) throw error;
    return failure(CODES.validation, error.message);
  }
  if (!(await reconciler.knows(operator))) return notFoundAnswer('No such operator');
  takesItsTime(request);
  const which = { operatorId: operator, from, to, actor: caller.actor };
  const received = await reconciler.receive(which, names, bodyOf(request));
  switch (received.kind) {
    case 'received':
      await discardRest(request);
      return json({ id: received.id } satisfies AdminApi['POST /admin/reconciliations'], 202);
    case 'tooLarge':
      return failure(CODES.validation, received.why, 413);
    case 'busy':
      return failure(CODES.system, 'Too many lists are being compared: try again later', 503);
    case 'stopping':
      return failure(CODES.system, 'This process is ending: send the list again', 503);
    default:
      return unreachable(received);
  }
}

/** Does not destroy the request if reading stops early: the answer still has to be sent. */
async function* bodyOf({ raw }: FastifyRequest): AsyncGenerator<Buffer> {
  for await (const chunk of raw.iterator({ destroyOnReturn: false })) {
    if (!Buffer.isBuffer(chunk)) throw new TypeError('a request gave no bytes');
    yield chunk;
  }
}

/** How much of the rest of an incomparable list is read and dropped before the answer is sent. */
const DISCARDED_BYTES_MAX = 64 * 1_048_576;

async function discardRest(request: FastifyRequest): Promise<void> {
  // The sender has disconnected.
  if (request.raw.destroyed) return;
  let bytes = 0;
  for await (const chunk of bodyOf(request)) {
    bytes += chunk.length;
    if (bytes > DISCARDED_BYTES_MAX) return;
  }
}

async function runOf(
  { reconciliations }: ReconciliationDependencies,
  request: FastifyRequest,
): Promise<ReconciliationItem | undefined> {
  const path = checkedPath(runPath, request);
  if (!('fields' in path) || !ID.test(path.fields.id)) return undefined;
  return await reconciliations.find(path.fields.id);
}

function resolved(result: Awaited<ReturnType<ReconciliationDifferences['resolve']>>): Answer {
  switch (result.kind) {
    case 'resolved':
      return json(
        result.item satisfies AdminApi['POST /admin/reconciliations/:id/differences/:difference/resolve'],
      );
    case 'resolvedBefore':
      return conflict('Somebody has already resolved it');
    case 'missing':
      return notFoundAnswer('No such difference');
    default:
      return unreachable(result);
  }
}
