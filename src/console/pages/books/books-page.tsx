import { getRouteApi, Link } from '@tanstack/react-router';
import { usePages } from '../../api/pages.ts';
import { useLive } from '../../api/queries.ts';
import { Empty } from '../../parts/answered.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Amount } from '../../parts/copyable.tsx';
import { filterFields } from '../../parts/filter-fields.tsx';
import { Heading } from '../../parts/heading.tsx';
import { Paged } from '../../parts/paged.tsx';
import { Plain } from '../../parts/plain.tsx';
import { column, type RowColumn, Rows } from '../../parts/rows.tsx';
import { type BooksFilter, readBooksFilter } from '../filters.ts';
import { DayCharts } from './day-charts.tsx';
import type { Day } from './series.ts';

const route = getRouteApi('/books');

/** What the wallets confirmed, day by day. */
export function BooksPage() {
  const filter = route.useSearch();
  const { from, to } = filter;
  // As while a person changes one after the other: asked for, it would be refused.
  const isSwapped = from !== undefined && to !== undefined && from > to;
  const query = { ...filter, order: 'newest' };
  const days = usePages('GET /admin/books/days', query, {}, !isSwapped);
  return (
    <>
      <Heading title="Books" query={days}>
        <Link to="/reconciliations">Reconciliations</Link>
      </Heading>
      <Filters filter={filter} />
      {isSwapped ? (
        <Empty title="The last day is before the first" />
      ) : (
        <Paged list={days} what="days">
          {(items) => <Days days={items} filter={filter} />}
        </Paged>
      )}
    </>
  );
}

function Days({ days, filter }: { readonly days: readonly Day[]; readonly filter: BooksFilter }) {
  if (days.length === 0) {
    return (
      <Empty title="Nothing is booked">
        {Object.keys(filter).length === 0
          ? 'No wallet has confirmed a bet yet.'
          : 'No wallet has confirmed a bet that fits these filters.'}
      </Empty>
    );
  }
  return (
    <>
      <DayCharts days={days} />
      <Rows label="Days, newest first" rows={days} columns={COLUMNS} idOf={idOf} rowPx={56} />
    </>
  );
}

function idOf({ day, operator, currency }: Day): string {
  return `${day} ${operator} ${currency}`;
}

function Filters({ filter }: { readonly filter: BooksFilter }) {
  const navigate = route.useNavigate();
  const operators = useLive('GET /admin/operators', { everyMs: false });
  const items = operators.data?.items ?? [];
  const currencies = [...new Set(items.flatMap((operator) => operator.currencies))].sort();
  const { text, choice, operator } = filterFields(
    filter,
    (change) => void navigate({ search: readBooksFilter({ ...filter, ...change }), replace: true }),
  );
  return (
    <search className="filters">
      {text('from', 'First day', 'date')}
      {text('to', 'Last day', 'date')}
      {operator()}
      {choice('currency', 'Currency', 'All currencies', currencies)}
    </search>
  );
}

function amountColumn(header: string, of: (day: Day) => string): RowColumn<Day> {
  const meta = { width: 'minmax(5rem, 1fr)', isNumber: true, phone: false } as const;
  return column(header, meta, (day) => <Amount amount={of(day)} currency={null} />);
}

const COLUMNS: readonly RowColumn<Day>[] = [
  column('Day', { width: 'minmax(6rem, 0.9fr)' }, ({ day, operator, closed }) => (
    <span className="stack">
      {closed ? (
        <Link
          to="/books/$operator/$day"
          params={{ operator, day }}
          className="row-link"
          data-row-link
        >
          {day}
        </Link>
      ) : (
        <span className="row-link">{day}</span>
      )}
      <Badge state={closed ? 'closed' : 'still open'} tone={closed ? 'good' : 'quiet'} />
    </span>
  )),
  column('Operator', { width: 'minmax(5rem, 1fr)' }, ({ operator, currency }) => (
    <span className="stack">
      <Link to="/operators/$id" params={{ id: operator }}>
        <Plain text={operator} />
      </Link>
      <span className="muted">
        <Plain text={currency} />
      </span>
    </span>
  )),
  column('Bets', { width: '4rem', isNumber: true, phone: false }, ({ bets }) =>
    bets.toLocaleString('en'),
  ),
  amountColumn('Stakes', ({ stakes }) => stakes),
  amountColumn('Returned', ({ stakeReturns }) => stakeReturns),
  amountColumn('Payouts', ({ payouts }) => payouts),
  amountColumn('Reversed', ({ payoutReversals }) => payoutReversals),
  amountColumn('Freebets', ({ freebetStakes }) => freebetStakes),
  column('Net', { width: 'minmax(5rem, 1fr)', isNumber: true }, ({ net }) => (
    <strong>
      <Amount amount={net} currency={null} />
    </strong>
  )),
  column(
    'Open',
    { width: 'minmax(5.5rem, 1fr)', isNumber: true, phone: false },
    ({ openBets, openStakes, unresolved }) => (
      <span className="stack end">
        <span>
          {openBets.toLocaleString('en')} {openBets === 1 ? 'bet' : 'bets'}
        </span>
        {openBets > 0 && <Amount amount={openStakes} currency={null} />}
        {unresolved > 0 && <Badge state={`${unresolved} unresolved`} tone="bad" />}
      </span>
    ),
  ),
];
