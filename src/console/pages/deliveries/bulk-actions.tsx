import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/call.ts';
import { refreshAll, useLive } from '../../api/queries.ts';
import type { Answers } from '../../api/wire.ts';
import { Action } from '../../parts/action.tsx';
import { reasonOf } from '../../parts/answered.tsx';
import { Plain } from '../../parts/plain.tsx';
import { type BulkProgress, eachSelected, retryFilter } from './bulk.ts';
import { type DeliveryFilter, RETRYABLE } from './filter.ts';

type Item = Answers['GET /admin/deliveries']['items'][number];

interface BulkActionsProps {
  readonly filter: DeliveryFilter;
  readonly selected: readonly Item[];
  readonly onDone: () => void;
}

/** Retries or resolves a selection, or retries all that a filter finds: how many is said before, how far after. */
export function BulkActions({ filter, selected, onDone }: BulkActionsProps) {
  const [progress, setProgress] = useState<BulkProgress | undefined>();
  const operators = useLive('GET /admin/operators', { everyMs: false });
  const isRetryable = RETRYABLE.has(filter.state ?? '');
  const count = useQuery({
    queryKey: ['GET /admin/deliveries/count', filter],
    queryFn: ({ signal }) => call('GET /admin/deliveries/count', { query: { ...filter }, signal }),
    enabled: isRetryable,
  });
  const { total, many } = totalOf(count.data);
  const follow = async (work: AsyncIterable<BulkProgress>) => {
    for await (const each of work) setProgress(each);
    onDone();
    await refreshAll();
  };
  const everyOperator = allOf(operators.data);
  return (
    <div className="bulk">
      {selected.length > 0 && (
        <Action
          right="operate"
          label={`Retry ${selected.length} selected`}
          tone="main"
          title={`Retry ${selected.length} deliveries`}
          about="Each is due at once. One that a later operation has overtaken is left as it is."
          reason="optional"
          run={(reason) => follow(eachSelected('retry', ids(selected), reason))}
        >
          {progress !== undefined && <Progress progress={progress} />}
        </Action>
      )}
      {selected.length > 0 && selected.every(({ state }) => state === 'dead') && (
        <Action
          right="operate"
          label={`Resolve ${selected.length} selected`}
          tone="danger"
          title={`Resolve ${selected.length} deliveries by hand`}
          about="None of them is ever sent again. Do this only when the wallet's own books say what the service believes."
          reason="required"
          run={(reason) => follow(eachSelected('resolve', ids(selected), reason))}
        >
          {progress !== undefined && <Progress progress={progress} />}
        </Action>
      )}
      {isRetryable && total > 0 && (
        <Action
          right="operate"
          label={`Retry all ${many} ${filter.state}`}
          title={`Retry ${many} deliveries`}
          about={`All that are ${filter.state}${filter.operator === undefined ? ', of every operator' : ` of ${filter.operator}`}${filter.operation === undefined ? '' : `, ${filter.operation} only`}. Those that a later operation has overtaken are left as they are.`}
          reason="optional"
          run={(reason) => follow(retryFilter(filter, everyOperator, total, reason))}
        >
          {progress !== undefined && <Progress progress={progress} />}
        </Action>
      )}
      {progress !== undefined && <Progress progress={progress} />}
    </div>
  );
}

/** Also those of which only something open is left. */
function allOf(operators: Answers['GET /admin/operators'] | undefined): readonly string[] {
  const { items = [], withoutFile = [] } = operators ?? {};
  return [...items, ...withoutFile].map(({ id }) => id);
}

function totalOf(counted: Answers['GET /admin/deliveries/count'] | undefined) {
  const { count: total = 0, isAtLeast } = counted ?? {};
  return { total, many: isAtLeast ? `at least ${total}` : `${total}` };
}

function ids(items: readonly Item[]): readonly string[] {
  return items.map(({ id }) => id);
}

function Progress({ progress }: { readonly progress: BulkProgress }) {
  const { looked, total, done, failed } = progress;
  return (
    <div className="progress" role="status">
      <progress max={total} value={Math.min(looked, total)} aria-label="Done so far" />
      <span>
        {looked} of {total} looked at, {done} done
        {failed.length > 0 && `, ${failed.length} not`}
      </span>
      {failed.slice(0, 3).map(({ id, error }) => (
        <p key={id} className="muted">
          {id}: <Plain text={reasonOf(error)} />
        </p>
      ))}
    </div>
  );
}
