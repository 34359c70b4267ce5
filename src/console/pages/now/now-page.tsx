import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useLive } from '../../api/queries.ts';
import type { Answers } from '../../api/wire.ts';
import { Answered, Empty } from '../../parts/answered.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Ago } from '../../parts/clock.tsx';
import { Heading } from '../../parts/heading.tsx';
import { Plain } from '../../parts/plain.tsx';
import { QuickFilter } from '../../parts/quick-filter.tsx';
import { type RowColumn, Rows } from '../../parts/rows.tsx';
import {
  countText,
  type OpenItems,
  type OperatorRow,
  percentText,
  troublesOf,
  unknownShareOf,
  worstFirst,
} from './severity.ts';

const route = getRouteApi('/');

type Dependencies = Answers['GET /admin/operators']['dependencies'];

/** Every operator on one screen, worst first. */
export function NowPage() {
  const operators = useLive('GET /admin/operators');
  const { find = '' } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <>
      <Heading title="Now" query={operators}>
        <QuickFilter
          label="Only operators whose id or name contains"
          placeholder="Filter operators"
          value={find}
          onChange={(text) => void navigate({ search: { find: text }, replace: true })}
        />
      </Heading>
      <Answered query={operators} what="operators">
        {({ items, withoutFile, dependencies }) => (
          <>
            {items.some(({ openDeliveries }) => openDeliveries === null) && (
              <Unknown isThere={dependencies?.postgresql === 'up'} />
            )}
            <Servers dependencies={dependencies} />
            {withoutFile.map((open) => (
              <WithoutFile key={open.id} open={open} />
            ))}
            <Operators items={items} find={find} />
          </>
        )}
      </Answered>
    </>
  );
}

/** Without it, the rows would show no more than a warning while bets are refused. */
function Unknown({ isThere }: { readonly isThere: boolean }) {
  if (isThere) return <NotCounted />;
  return (
    <p className="notice bad" role="alert">
      <span>
        <strong>PostgreSQL does not answer, or not within two seconds.</strong> While it is away no
        bet is placed. What waits, is dead or unresolved is not known, nor whose deliveries are
        held.
      </span>
    </p>
  );
}

/** PostgreSQL is slow, or others have taken its connections: callbacks go on with those that they have. */
function NotCounted() {
  return (
    <p className="notice warn" role="alert">
      <span>
        <strong>What waits, is dead or unresolved is not known</strong>, nor whose deliveries are
        held: PostgreSQL answers, but not to that within two seconds, or it gives no further
        connection.
      </span>
    </p>
  );
}

/** The rows look well while PostgreSQL is read, and takes no bet. */
function Servers({ dependencies }: { readonly dependencies: Dependencies | undefined }) {
  return (
    <>
      {dependencies?.postgresql === 'read_only' && (
        <p className="notice bad" role="alert">
          <span>
            <strong>PostgreSQL takes no writes.</strong> Until it does again, no bet is placed and
            nothing can be changed here.
          </span>
        </p>
      )}
      {dependencies?.redis === 'down' && (
        <p className="notice warn">
          <span>
            <strong>Redis does not answer in time, or takes no writes.</strong> Everything goes on
            without it. Restart no gateway meanwhile: one that starts needs Redis.
          </span>
        </p>
      )}
    </>
  );
}

/** An operator whose file may have been removed by mistake: it has no row below and no page. */
function WithoutFile({ open }: { open: OpenItems }) {
  const counts = [
    `${countText([open], 'openDeliveries')} waiting`,
    `${countText([open], 'deadDeliveries')} dead`,
    `${countText([open], 'unresolvedBets')} unresolved`,
  ];
  return (
    <p className="notice bad">
      <span>
        <Plain text={open.id} /> has no file in operators/: {counts.join(', ')}. Nothing of it goes
        out until its file returns.{' '}
        <Link to="/deliveries" search={{ operator: open.id }}>
          Its deliveries
        </Link>
      </span>
    </p>
  );
}

function Operators({ items, find }: { items: readonly OperatorRow[]; find: string }) {
  const sorted = useMemo(() => worstFirst(items), [items]);
  const needle = find.toLowerCase();
  const rows = useMemo(
    () =>
      sorted.filter(({ id, name }) => id.includes(needle) || name.toLowerCase().includes(needle)),
    [sorted, needle],
  );
  if (items.length === 0) {
    return <Empty title="No operators">Add a file to the folder operators/.</Empty>;
  }
  return (
    <>
      <Summary items={items} />
      {rows.length === 0 ? (
        <Empty title="No such operator" />
      ) : (
        <Rows label="Operators, worst first" rows={rows} columns={COLUMNS} idOf={({ id }) => id} />
      )}
    </>
  );
}

function Summary({ items }: { items: readonly OperatorRow[] }) {
  const inTrouble = items.filter((row) =>
    troublesOf(row).some(({ tone }) => tone === 'bad'),
  ).length;
  const late = items.reduce((total, { recently }) => total + (recently?.late ?? 0), 0);
  return (
    <dl className="figures">
      <Figure name="Operators" value={items.length.toLocaleString('en')} />
      <Figure name="In trouble" value={inTrouble.toLocaleString('en')} isBad />
      <Figure name="Dead" value={countText(items, 'deadDeliveries')} isBad />
      <Figure name="Unresolved" value={countText(items, 'unresolvedBets')} isBad />
      <Figure name="Waiting" value={countText(items, 'openDeliveries')} />
      <Figure name="Answered late, 5 min" value={late.toLocaleString('en')} isBad />
    </dl>
  );
}

function Figure({ name, value, isBad = false }: { name: string; value: string; isBad?: boolean }) {
  return (
    <div className={isBad && value !== '0' && value !== '?' ? 'figure bad' : 'figure'}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

const COLUMNS: readonly RowColumn<OperatorRow>[] = [
  {
    id: 'operator',
    header: 'Operator',
    meta: { width: 'minmax(6.5rem, 2fr)' },
    cell: ({ row }) => (
      <Link to="/operators/$id" params={{ id: row.original.id }} className="row-link" data-row-link>
        <Plain text={row.original.name} />
        {row.original.name !== row.original.id && <span className="muted"> {row.original.id}</span>}
      </Link>
    ),
  },
  {
    id: 'state',
    header: 'Health',
    meta: { width: 'minmax(8.5rem, 2.4fr)' },
    cell: ({ row }) => <Standing row={row.original} />,
  },
  count('waiting', 'Waiting', '3.6rem', (row) => countText([row], 'openDeliveries')),
  {
    id: 'oldest',
    header: 'Oldest',
    meta: { width: 'minmax(3.6rem, 7rem)', isNumber: true, phone: false },
    cell: ({ row: { original } }) =>
      original.oldestDelivery === null ? (
        <span className="muted">{original.openDeliveries === null ? '?' : '–'}</span>
      ) : (
        <Ago at={original.oldestDelivery} />
      ),
  },
  count('dead', 'Dead', '2.9rem', (row) => countText([row], 'deadDeliveries')),
  count('unresolved', 'Unresolved', '4.6rem', (row) => countText([row], 'unresolvedBets')),
  {
    id: 'unknown',
    header: 'Unknown, late',
    meta: { width: 'minmax(4.5rem, 7rem)', isNumber: true, phone: false },
    cell: ({ row: { original } }) => <Recently row={original} />,
  },
  count('inFlight', 'In flight', '3.2rem', ({ inFlight }) =>
    (inFlight.read + inFlight.money).toLocaleString('en'),
  ),
];

function Standing({ row }: { row: OperatorRow }) {
  const troubles = troublesOf(row);
  if (troubles.length === 0) return <Badge state="all well" tone="good" />;
  return (
    <span className="badges">
      {troubles.map(({ tone, text }) => (
        <Badge key={text} state={text} tone={tone} />
      ))}
    </span>
  );
}

/** The last five minutes: share of unknown outcomes, and late answers. */
function Recently({ row }: { row: OperatorRow }) {
  const share = unknownShareOf(row);
  if (share === undefined) return <span className="muted">–</span>;
  const late = row.recently?.late ?? 0;
  const text = `${percentText(share)}, ${late.toLocaleString('en')}`;
  return share + late === 0 ? <span className="muted">{text}</span> : text;
}

/** @param narrowest its width on a tablet, where its heading just fits */
function count(
  id: string,
  header: string,
  narrowest: string,
  of: (row: OperatorRow) => string,
): RowColumn<OperatorRow> {
  return {
    id,
    header,
    meta: { width: `minmax(${narrowest}, 6rem)`, isNumber: true, phone: false },
    cell: ({ row }) => {
      const text = of(row.original);
      return text === '0' || text === '?' ? <span className="muted">{text}</span> : text;
    },
  };
}
