import { getRouteApi, Link } from '@tanstack/react-router';
import { BET_STATES } from '../../../domain/bet-state.ts';
import { usePages } from '../../api/pages.ts';
import { useLive } from '../../api/queries.ts';
import type { Answers } from '../../api/wire.ts';
import { Empty } from '../../parts/answered.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Time } from '../../parts/clock.tsx';
import { Amount } from '../../parts/copyable.tsx';
import { filterFields } from '../../parts/filter-fields.tsx';
import { Heading } from '../../parts/heading.tsx';
import { PagedRows } from '../../parts/paged.tsx';
import { Plain } from '../../parts/plain.tsx';
import { column, type RowColumn } from '../../parts/rows.tsx';
import { readBetFilter } from '../filters.ts';

type Item = Answers['GET /admin/bets']['items'][number];

const route = getRouteApi('/bets');

/** The bets, newest first, filtered by what is known about them. */
export function BetsPage() {
  const filter = route.useSearch();
  const bets = usePages('GET /admin/bets', { ...filter });
  return (
    <>
      <Heading title="Bets" query={bets} />
      <Filters />
      <PagedRows
        list={bets}
        what="bets"
        label="Bets, newest first"
        columns={COLUMNS}
        idOf={({ transactionId }) => transactionId}
        rowPx={56}
        empty={
          <Empty title="No bets">
            {bets.hasNextPage
              ? 'None so far: show more to search older bets.'
              : 'No bet matches the search.'}
          </Empty>
        }
      />
    </>
  );
}

function Filters() {
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const { data: me } = useLive('GET /admin/me', { everyMs: false });
  const { text, choice, operator } = filterFields(
    filter,
    (change) => void navigate({ search: readBetFilter({ ...filter, ...change }), replace: true }),
  );
  return (
    <search className="filters">
      {text('transactionId', 'Bet id')}
      {me?.rights.includes('personal') === true && (
        <>
          {text('operatorUser', 'Player at the operator')}
          {text('userId', 'Player at the service')}
        </>
      )}
      {text('amount', 'Stake')}
      {text('from', 'From (UTC)', 'date')}
      {text('to', 'Before (UTC)', 'date')}
      {operator()}
      {choice('state', 'State', 'All states', BET_STATES)}
    </search>
  );
}

const COLUMNS: readonly RowColumn<Item>[] = [
  column('Bet', { width: 'minmax(6rem, 2.4fr)' }, ({ transactionId }) => (
    <Link to="/bets/$id" params={{ id: transactionId }} className="row-link mono" data-row-link>
      <Plain text={transactionId} />
    </Link>
  )),
  column('State', { width: 'minmax(5.5rem, 1fr)' }, ({ state }) => <Badge state={state} />),
  column('Operator', { width: 'minmax(5rem, 0.8fr)', phone: false }, ({ operator }) =>
    operator === null ? null : <Plain text={operator} />,
  ),
  column('Player', { width: 'minmax(5rem, 1fr)', phone: false }, ({ operatorUser, userId }) =>
    userId === null || operatorUser === null ? (
      <span className="muted">–</span>
    ) : (
      <Link to="/players/$id" params={{ id: userId }}>
        <Plain text={operatorUser} />
      </Link>
    ),
  ),
  column('Stake', { width: 'minmax(5rem, 0.8fr)', isNumber: true }, ({ amount, currency }) => (
    <Amount amount={amount} currency={currency} />
  )),
  column(
    'Result',
    { width: 'minmax(5rem, 0.8fr)', isNumber: true, phone: false },
    ({ settlement, currency }) => <Amount amount={settlement.amount} currency={currency} />,
  ),
  column('Placed', { width: '9rem', phone: false }, ({ createdAt }) => <Time at={createdAt} />),
];
