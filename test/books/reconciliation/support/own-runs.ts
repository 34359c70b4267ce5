import { ReconciliationRun } from '../../../../src/books/reconciliation/run.ts';
import { ReconciliationDifferences } from '../../../../src/store/reconciliation/differences.ts';
import { ReconciliationRuns } from '../../../../src/store/reconciliation/runs.ts';
import type { TestGateway } from '../../../support/gateway.ts';
import { around } from './lists.ts';

/** How runs in these tests read their lists. */
export const LIST = { names: new Map(), bytesMax: 10_000_000 };

export function kept(gateway: TestGateway) {
  return {
    runs: new ReconciliationRuns(gateway.parts.database),
    differences: new ReconciliationDifferences(gateway.parts.database),
  };
}

/** The days around now. */
export const PLAN = {
  ...{ operatorId: 'alpha', from: around(-1), to: around(1) },
  ...{ timeZone: 'UTC', actor: 'ann' },
};

/** Begins a run of the plan in this process. */
export function begin(
  gateway: TestGateway,
  signal = new AbortController().signal,
  { runs, differences } = kept(gateway),
) {
  return ReconciliationRun.begin(
    { runs, differences, databaseUrl: gateway.databaseUrl, signal },
    PLAN,
  );
}

export async function* chunksOf(...texts: readonly string[]) {
  for (const text of texts) yield Buffer.from(text);
}
