import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { AnswerError, call, mayHaveBeenDone } from '../../api/call.ts';
import { LIVE_MS, refreshAll, untilSignedOut } from '../../api/queries.ts';
import type { Answers } from '../../api/wire.ts';
import { Action, useIsHere } from '../../parts/action.tsx';
import { reasonOf } from '../../parts/answered.tsx';
import { Plain } from '../../parts/plain.tsx';
import type { DeliveryFilter } from '../filters.ts';
import { type BulkProgress, eachSelected, nameOf, retryFilter } from './bulk.ts';
import { NOT_RESOLVED } from './delivery-actions.tsx';
import { RETRYABLE } from './delivery-rows.tsx';

type Item = Answers['GET /admin/deliveries']['items'][number];

/** Counting more than this takes PostgreSQL a while, so it is not done every three seconds. */
const MANY = 10_000;
const MANY_MS = 30_000;

const HELD_STILL =
  'What is held goes out only once its operator takes deliveries again, or its bet is released.';

/** Which button was pressed. */
type What = 'retry' | 'resolve' | 'all';

/** The latest run of one of the buttons, finished or not. */
interface Latest {
  readonly what: What;
  readonly progress: BulkProgress;
  readonly isOver: boolean;
}

interface BulkActionsProps {
  readonly filter: DeliveryFilter;
  readonly selected: readonly Item[];
  readonly onDone: () => void;
}

/** Retries or resolves the selected deliveries, or all that the filter finds; shows how many, and the progress. */
export function BulkActions({ filter, selected, onDone }: BulkActionsProps) {
  const isRetryable = RETRYABLE.has(filter.state ?? '');
  const { total, many } = useTotal(filter, isRetryable);
  const { latest, follow } = useLatest(onDone);
  // An open window must not show the result of an earlier run.
  const progressOf = (what: What) =>
    latest?.what === what && !latest.isOver && <Progress progress={latest.progress} />;
  return (
    <div className="bulk">
      {selected.length > 0 && (
        <Action
          right="operate"
          label={`Retry ${selected.length} selected`}
          tone="main"
          title={`Retry ${deliveries(selected.length)}`}
          subject={idsOf(selected)}
          about={`Each is due at once.${selected.some(({ state }) => state === 'held') ? ` ${HELD_STILL}` : ''} One that a later operation has overtaken is left as it is. ${NOT_RESOLVED}`}
          reason="optional"
          run={(reason) => follow('retry', eachSelected('retry', selected, reason))}
        >
          <Chosen items={selected} />
          {progressOf('retry')}
        </Action>
      )}
      {selected.length > 0 && selected.every(({ state }) => state === 'dead') && (
        <Action
          right="operate"
          label={`Resolve ${selected.length} selected`}
          tone="danger"
          title={`Resolve ${deliveries(selected.length)} by hand`}
          subject={idsOf(selected)}
          about="None of them is ever sent again. Do this only when the wallet's own books say what the service believes."
          reason="required"
          run={(reason) => follow('resolve', eachSelected('resolve', selected, reason))}
        >
          <Chosen items={selected} />
          {progressOf('resolve')}
        </Action>
      )}
      {isRetryable && total > 0 && (
        <Action
          right="operate"
          label={`Retry all ${many} ${filter.state}`}
          title={`Retry ${many === '1' ? deliveries(1) : `${many} deliveries`}`}
          about={`All that are ${filter.state}${filter.operator === undefined ? ', of every operator' : ` of ${filter.operator}`}${filter.operation === undefined ? '' : `, ${filter.operation} only`}. Those that a later operation has overtaken are left as they are.${filter.state === 'held' ? ` ${HELD_STILL}` : ''} ${NOT_RESOLVED}`}
          reason="optional"
          run={(reason) => follow('all', retryFilter(filter, total, reason))}
        >
          {progressOf('all')}
        </Action>
      )}
      {latest !== undefined && <Progress progress={latest.progress} />}
    </div>
  );
}

const CHOSEN_SHOWN = 5;

/** By name, because the list changes under the pointer: another delivery than the intended one may be chosen. */
function Chosen({ items }: { readonly items: readonly Item[] }) {
  const more = items.length - CHOSEN_SHOWN;
  return (
    <ul className="chosen">
      {items.slice(0, CHOSEN_SHOWN).map((item) => (
        <li key={item.id}>
          <Plain text={`${nameOf(item)} at ${item.operator}`} />
        </li>
      ))}
      {more > 0 && <li>and {more} more</li>}
    </ul>
  );
}

/** How many deliveries a filter finds, also in words, as fresh as the list beside it. */
function useTotal(filter: DeliveryFilter, isRetryable: boolean) {
  const counted = useQuery({
    queryKey: ['GET /admin/deliveries/count', filter],
    queryFn: ({ signal }) => call('GET /admin/deliveries/count', { query: { ...filter }, signal }),
    enabled: isRetryable,
    refetchInterval: (query) => {
      const { count: last = 0 } = query.state.data ?? {};
      return untilSignedOut(last > MANY ? MANY_MS : LIVE_MS)(query);
    },
  });
  const { count: total = 0, isAtLeast } = counted.data ?? {};
  return { total, many: isAtLeast ? `at least ${total}` : `${total}` };
}

/** The latest run, and the function that starts one. */
function useLatest(onDone: () => void) {
  const [latest, setLatest] = useState<Latest | undefined>();
  const isHere = useIsHere();
  const follow = async (what: What, work: AsyncIterable<BulkProgress>) => {
    setLatest(undefined);
    let end: BulkProgress | undefined;
    try {
      for await (const progress of work) {
        setLatest({ what, progress, isOver: false });
        end = progress;
      }
      onDone();
      if (!isHere.current) mustBeWhole(end);
    } finally {
      setLatest((last) => last && { ...last, isOver: true });
      await refreshAll();
    }
  };
  return { latest, follow };
}

/** @throws AnswerError if something was not done: a person who has left the page does not see the progress */
function mustBeWhole(end: BulkProgress | undefined): void {
  const [first] = end?.failed ?? [];
  if (end === undefined || first === undefined) return;
  const orUnknown = end.failed.some(({ error }) => mayHaveBeenDone(error))
    ? ', or may have been'
    : '';
  const words = `${end.failed.length} of ${end.total} were not done${orUnknown}, such as ${first.name}: ${reasonOf(first.error)}`;
  throw new AnswerError(0, words);
}

/** What is not done, and what may be all the same because its answer was lost. */
function lacksIn({ failed }: BulkProgress): string {
  const unknown = failed.filter(({ error }) => mayHaveBeenDone(error)).length;
  const not = failed.length - unknown;
  return `${not > 0 ? `, ${not} not` : ''}${unknown > 0 ? `, ${unknown} not known` : ''}`;
}

function idsOf(selected: readonly Item[]): string {
  return selected.map(({ id }) => id).join(' ');
}

function deliveries(count: number): string {
  return count === 1 ? '1 delivery' : `${count} deliveries`;
}

function Progress({ progress }: { readonly progress: BulkProgress }) {
  const { looked, total, done, waiting, failed, withoutFile } = progress;
  return (
    <div className="progress" role="status">
      <progress max={total} value={Math.min(looked, total)} aria-label="Done so far" />
      <span>
        {looked} of {total} looked at, {done} done
        {waiting > 0 && `, ${waiting} due once no longer held`}
        {lacksIn(progress)}
      </span>
      {failed.slice(0, 3).map(({ name, error }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they keep their place
        <p key={at} className="muted">
          <Plain text={`${name}: ${reasonOf(error)}`} />
        </p>
      ))}
      {withoutFile.map((id) => (
        <p key={id} className="muted">
          <Plain text={id} /> has no file in operators/: its deliveries are left as they are.
        </p>
      ))}
    </div>
  );
}
