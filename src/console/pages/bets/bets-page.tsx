import { getRouteApi, Link } from '@tanstack/react-router';
import { BET_STATES } from '../../../domain/bet-state.ts';
import { usePages } from '../../api/pages.ts';
import { useLive } from '../../api/queries.ts';
import type { Answers } from '../../api/wire.ts';
import { Answered, Empty } from '../../parts/answered.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Choice } from '../../parts/choice.tsx';
import { Time } from '../../parts/clock.tsx';
import { Amount } from '../../parts/copyable.tsx';
import { Heading } from '../../parts/heading.tsx';
import { More } from '../../parts/more.tsx';
import { OperatorChoice } from '../../parts/operator-choice.tsx';
import { Plain } from '../../parts/plain.tsx';
import { column, type RowColumn, Rows } from '../../parts/rows.tsx';
import { TextFilter } from '../../parts/text-filter.tsx';
import { type BetFilter, readBetFilter } from './filter.ts';

type Item = Answers['GET /admin/bets']['items'][number];

const route = getRouteApi('/bets');

/** The bets, newest first, filtered by what is known about them. */
export function BetsPage() {
  const filter = route.useSearch();
  const bets = usePages('GET /admin/bets', { ...filter });
  return (
    <>
      <Heading title="Bets" query={bets} />
      <Filters filter={filter} />
      <Answered query={bets} what="bets">
        {({ pages }) => {
          const items = pages.flatMap((page) => page.items);
          return items.length === 0 ? (
            <Empty title="No bets">
              {bets.hasNextPage
                ? 'None so far: show more to search older bets.'
                : 'No bet matches the search.'}
            </Empty>
          ) : (
            <Rows
              label="Bets, newest first"
              rows={items}
              columns={COLUMNS}
              idOf={({ transactionId }) => transactionId}
              rowPx={56}
            />
          );
        }}
      </Answered>
      <More list={bets} />
    </>
  );
}

function Filters({ filter }: { readonly filter: BetFilter }) {
  const navigate = route.useNavigate();
  const { data: me } = useLive('GET /admin/me', { everyMs: false });
  const set = (change: BetFilter) =>
    void navigate({ search: readBetFilter({ ...filter, ...change }), replace: true });
  const text = (name: keyof BetFilter, label: string, type?: 'date') => (
    <TextFilter
      label={label}
      value={filter[name]}
      onChange={(value) => set({ [name]: value })}
      {...(type === undefined ? {} : { type })}
    />
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
      <OperatorChoice value={filter.operator} onChange={(operator) => set({ operator })} />
      <Choice
        label="State"
        value={filter.state}
        all="All states"
        options={BET_STATES}
        onChange={(state) => set({ state })}
      />
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
