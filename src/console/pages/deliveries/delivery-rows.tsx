import { Link } from '@tanstack/react-router';
import { createContext, useContext, useMemo } from 'react';
import type { Answers } from '../../api/wire.ts';
import { Badge } from '../../parts/badge.tsx';
import { Ago, useNowMs } from '../../parts/clock.tsx';
import { Plain } from '../../parts/plain.tsx';
import { column, type RowColumn, Rows } from '../../parts/rows.tsx';
import { visibleText } from '../../parts/visible.ts';

/** States from which a person can have a delivery retried. */
export const RETRYABLE: ReadonlySet<string> = new Set(['dead', 'pending', 'held']);

type Item = Answers['GET /admin/deliveries']['items'][number];

interface DeliveryRowsProps {
  readonly items: readonly Item[];
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (selected: ReadonlySet<string>) => void;
}

export function DeliveryRows({ items, selected, onSelect }: DeliveryRowsProps) {
  const selection = useMemo(() => ({ selected, onSelect }), [selected, onSelect]);
  return (
    <Selection value={selection}>
      <Rows label="Deliveries" rows={items} columns={COLUMNS} idOf={({ id }) => id} rowPx={56} />
    </Selection>
  );
}

/** Not by columns of their own: each choice would make all boxes anew, and take the focus. */
const Selection = createContext<Omit<DeliveryRowsProps, 'items'>>({
  selected: new Set(),
  onSelect: () => undefined,
});

function SelectBox({ item }: { readonly item: Item }) {
  const { selected, onSelect } = useContext(Selection);
  const toggle = () => {
    const next = new Set(selected);
    if (!next.delete(item.id)) next.add(item.id);
    onSelect(next);
  };
  return (
    <label className="row-check">
      <input
        type="checkbox"
        aria-label={`Select the ${item.operation} of ${visibleText(item.transactionId)}`}
        checked={selected.has(item.id)}
        onChange={toggle}
      />
    </label>
  );
}

const CHOICE: RowColumn<Item> = {
  id: 'selected',
  header: () => <span className="sr-only">Selected</span>,
  meta: { width: '2rem' },
  cell: ({ row: { original: item } }) => RETRYABLE.has(item.state) && <SelectBox item={item} />,
};

const COLUMNS: readonly RowColumn<Item>[] = [
  CHOICE,
  column('Bet', { width: 'minmax(4.5rem, 2.4fr)' }, ({ transactionId }) => (
    <Link to="/bets/$id" params={{ id: transactionId }} className="row-link mono" data-row-link>
      <Plain text={transactionId} />
    </Link>
  )),
  column('What', { width: 'minmax(5.25rem, 0.8fr)' }, ({ operation, state }) => (
    <span className="stack">
      <span>{operation}</span>
      <Badge state={state} />
    </span>
  )),
  column('Operator', { width: 'minmax(5rem, 0.7fr)', phone: 'below' }, ({ operator }) => (
    <Link to="/operators/$id" params={{ id: operator }}>
      <Plain text={operator} />
    </Link>
  )),
  column('Last error', { width: 'minmax(10rem, 2.5fr)', phone: 'below' }, ({ lastError }) =>
    lastError === null ? <span className="muted">–</span> : <Plain text={lastError} />,
  ),
  column('Attempts', { width: '5rem', isNumber: true, phone: false }, ({ attempts }) => attempts),
  column('Since, next', { width: 'minmax(4.25rem, 0.8fr)' }, (item) => (
    <span className="stack">
      <Ago at={item.createdAt} />
      <Next item={item} />
    </span>
  )),
];

/** When it is tried next. A held delivery is not tried, however long it has been due. */
function Next({ item: { state, nextAttemptAt } }: { readonly item: Item }) {
  const now = useNowMs();
  if (nextAttemptAt === null) return null;
  if (state === 'held') return <span className="muted">when no longer held</span>;
  if (Date.parse(nextAttemptAt) <= now) return <span className="muted">due now</span>;
  return (
    <span className="muted">
      next <Ago at={nextAttemptAt} />
    </span>
  );
}
