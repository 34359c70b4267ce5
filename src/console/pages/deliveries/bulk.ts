import { unreachable } from '../../../domain/unreachable.ts';
import { AnswerError, call } from '../../api/call.ts';
import { operatorIds } from '../../api/queries.ts';
import type { Answers } from '../../api/wire.ts';
import type { DeliveryFilter } from '../filters.ts';

export interface BulkProgress {
  readonly total: number;
  readonly looked: number;
  readonly done: number;
  /** Retried, but held: not done yet. */
  readonly waiting: number;
  readonly failed: readonly { readonly name: string; readonly error: Error }[];
  /** Operators whose file is gone: their deliveries are not retried until it returns. */
  readonly withoutFile: readonly string[];
}

const NOTHING_YET = { looked: 0, done: 0, waiting: 0, failed: [], withoutFile: [] } as const;

/** How many deliveries one request goes through, so that progress can be shown. */
const SLICE = 100;

/** What a person can do with each selected delivery. */
export type SelectionVerb = 'retry' | 'resolve';

/** One delivery of a selection, as people know it: its own id is on no page. */
interface Selected {
  readonly id: string;
  readonly operation: string;
  readonly transactionId: string;
}

export function nameOf({ operation, transactionId }: Selected): string {
  return `${operation} of ${transactionId}`;
}

/** One request each: every one is a person's decision, and is audited as one. */
export async function* eachSelected(
  verb: SelectionVerb,
  selected: readonly Selected[],
  reason: string | undefined,
): AsyncGenerator<BulkProgress> {
  let progress: BulkProgress = { total: selected.length, ...NOTHING_YET };
  for (const one of selected) {
    const result = await resultOf(oneOf(verb, one.id, reason));
    const became =
      result instanceof Error
        ? { failed: [...progress.failed, { name: nameOf(one), error: result }] }
        : counted(progress, 1, result.state === 'held');
    progress = { ...progress, looked: progress.looked + 1, ...became };
    yield progress;
  }
}

/** What is retried while it is held does not go out yet: somebody who reads that it is done would not look again. */
function counted({ done, waiting }: BulkProgress, more: number, isHeld: boolean) {
  return isHeld ? { waiting: waiting + more } : { done: done + more };
}

type Item = Answers['POST /admin/deliveries/:id/retry'];

function oneOf(verb: SelectionVerb, id: string, reason: string | undefined): Promise<Item> {
  switch (verb) {
    case 'retry':
      return call('POST /admin/deliveries/:id/retry', { path: { id }, body: { reason } });
    case 'resolve':
      return call('POST /admin/deliveries/:id/resolve', {
        path: { id },
        body: { by: 'console', reason },
      });
    default:
      return unreachable(verb);
  }
}

async function resultOf(work: Promise<Item>): Promise<Item | Error> {
  try {
    return await work;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Retries all that a filter finds, slice by slice, one operator after another. */
export async function* retryFilter(
  filter: DeliveryFilter,
  total: number,
  reason: string | undefined,
): AsyncGenerator<BulkProgress> {
  let progress: BulkProgress = { total, ...NOTHING_YET };
  // Asked at the moment of the retry: the page's own list may be out of date, or may have failed to load.
  const operators = await call('GET /admin/operators');
  const takeNone = new Set(operators.items.filter(takesNone).map(({ id }) => id));
  for (const operator of filter.operator === undefined
    ? operatorIds(operators)
    : [filter.operator]) {
    const isHeld = filter.state === 'held' || takeNone.has(operator);
    let cursor: string | null = null;
    do {
      const answer = await retrySlice({ ...filter, operator }, cursor, reason);
      if (answer === undefined) {
        progress = { ...progress, withoutFile: [...progress.withoutFile, operator] };
        break;
      }
      cursor = answer.nextCursor ?? null;
      const looked = cursor === null ? progress.looked + answer.retried : progress.looked + SLICE;
      progress = { ...progress, looked, ...counted(progress, answer.retried, isHeld) };
      yield progress;
    } while (cursor !== null);
  }
  yield progress.withoutFile.length > 0 ? progress : { ...progress, looked: total };
}

type Operator = Answers['GET /admin/operators']['items'][number];

/** Whether the operator takes no deliveries now: what of its is dead is held once it is retried. */
function takesNone({ status, hold, breaker }: Operator): boolean {
  return status === 'maintenance' || hold !== null || breaker.money !== 'closed';
}

type Slice = Answers['POST /admin/deliveries/retry'];

/** @returns undefined if the operator has no file: the others must still be retried */
async function retrySlice(
  { operator, state, operation }: DeliveryFilter,
  cursor: string | null,
  reason: string | undefined,
): Promise<Slice | undefined> {
  try {
    return await call('POST /admin/deliveries/retry', {
      body: { operator, state, operation, limit: SLICE, cursor: cursor ?? undefined, reason },
    });
  } catch (error) {
    if (error instanceof AnswerError && error.status === 404) return undefined;
    throw error;
  }
}
