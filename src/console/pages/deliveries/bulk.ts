import { unreachable } from '../../../domain/unreachable.ts';
import { call } from '../../api/call.ts';
import type { DeliveryFilter } from './filter.ts';

export interface BulkProgress {
  readonly total: number;
  readonly looked: number;
  readonly done: number;
  readonly failed: readonly { readonly id: string; readonly error: Error }[];
}

/** How many one request looks at, so that progress can be shown. */
const SLICE = 100;

/** What a person may do with each of a selection. */
export type SelectionVerb = 'retry' | 'resolve';

/** One after the other: each is a person's decision, and is audited as one. */
export async function* eachSelected(
  verb: SelectionVerb,
  ids: readonly string[],
  reason: string,
): AsyncGenerator<BulkProgress> {
  let progress: BulkProgress = { total: ids.length, looked: 0, done: 0, failed: [] };
  for (const id of ids) {
    const error = await errorOf(oneOf(verb, id, reason));
    progress = {
      ...progress,
      looked: progress.looked + 1,
      done: progress.done + (error === undefined ? 1 : 0),
      failed: error === undefined ? progress.failed : [...progress.failed, { id, error }],
    };
    yield progress;
  }
}

async function oneOf(verb: SelectionVerb, id: string, reason: string): Promise<unknown> {
  switch (verb) {
    case 'retry': {
      const body = reason === '' ? {} : { reason };
      return await call('POST /admin/deliveries/:id/retry', { path: { id }, body });
    }
    case 'resolve': {
      const body = { by: 'console', reason };
      return await call('POST /admin/deliveries/:id/resolve', { path: { id }, body });
    }
    default:
      return unreachable(verb);
  }
}

async function errorOf(work: Promise<unknown>): Promise<Error | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** All that a filter finds, slice by slice, an operator after the other. */
export async function* retryFilter(
  filter: DeliveryFilter,
  operators: readonly string[],
  total: number,
  reason: string,
): AsyncGenerator<BulkProgress> {
  let progress: BulkProgress = { total, looked: 0, done: 0, failed: [] };
  for (const operator of filter.operator === undefined ? operators : [filter.operator]) {
    let cursor: string | null = null;
    do {
      const answer: { retried: number; nextCursor?: string | null } = await call(
        'POST /admin/deliveries/retry',
        {
          body: {
            operator,
            state: filter.state,
            ...(filter.operation === undefined ? {} : { operation: filter.operation }),
            limit: SLICE,
            ...(cursor === null ? {} : { cursor }),
            ...(reason === '' ? {} : { reason }),
          },
        },
      );
      cursor = answer.nextCursor ?? null;
      const looked = cursor === null ? progress.looked + answer.retried : progress.looked + SLICE;
      progress = { ...progress, looked, done: progress.done + answer.retried };
      yield progress;
    } while (cursor !== null);
  }
  yield { ...progress, looked: total };
}
