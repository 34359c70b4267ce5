import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useLive } from '../../api/queries.ts';
import type { Answers } from '../../api/wire.ts';
import { Answered, Empty } from '../../parts/answered.tsx';
import { Ago } from '../../parts/clock.tsx';
import { Figure } from '../../parts/facts.tsx';
import { Heading } from '../../parts/heading.tsx';
import { Plain } from '../../parts/plain.tsx';
import { QuickFilter } from '../../parts/quick-filter.tsx';
import { column, type RowColumn, Rows } from '../../parts/rows.tsx';
import {
  countText,
  type OpenItems,
  type OperatorRow,
  percentText,
  troublesOf,
  unknownShareOf,
  worstFirst,
} from './severity.ts';
import { TroubleBadges } from './trouble-badges.tsx';

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
      <Count name="Operators" value={items.length.toLocaleString('en')} />
      <Count name="In trouble" value={inTrouble.toLocaleString('en')} isBad />
      <Count name="Dead" value={countText(items, 'deadDeliveries')} isBad />
      <Count name="Unresolved" value={countText(items, 'unresolvedBets')} isBad />
      <Count name="Waiting" value={countText(items, 'openDeliveries')} />
      <Count name="Answered late, 5 min" value={late.toLocaleString('en')} isBad />
    </dl>
  );
}

function Count({ name, value, isBad = false }: { name: string; value: string; isBad?: boolean }) {
  return (
    <Figure name={name} isBad={isBad && value !== '0' && value !== '?'}>
      {value}
    </Figure>
  );
}

const COLUMNS: readonly RowColumn<OperatorRow>[] = [
  column('Operator', { width: 'minmax(6.5rem, 2fr)' }, ({ id, name }) => (
    <Link to="/operators/$id" params={{ id }} className="row-link" data-row-link>
      <Plain text={name} />
      {name !== id && <span className="muted"> {id}</span>}
    </Link>
  )),
  column('Health', { width: 'minmax(8.5rem, 2.4fr)' }, (row) => (
    <span className="badges">
      <TroubleBadges row={row} />
    </span>
  )),
  count('Waiting', '3.6rem', (row) => countText([row], 'openDeliveries')),
  column(
    'Oldest',
    { width: 'minmax(3.6rem, 7rem)', isNumber: true, phone: false },
    ({ oldestDelivery, openDeliveries }) =>
      oldestDelivery === null ? (
        <span className="muted">{openDeliveries === null ? '?' : '–'}</span>
      ) : (
        <Ago at={oldestDelivery} />
      ),
  ),
  count('Dead', '2.9rem', (row) => countText([row], 'deadDeliveries')),
  count('Unresolved', '4.6rem', (row) => countText([row], 'unresolvedBets')),
  column(
    'Unknown, late',
    { width: 'minmax(4.5rem, 7rem)', isNumber: true, phone: false },
    (row) => <Recently row={row} />,
  ),
  count('In flight', '3.2rem', ({ inFlight }) =>
    (inFlight.read + inFlight.money).toLocaleString('en'),
  ),
];

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
  header: string,
  narrowest: string,
  of: (row: OperatorRow) => string,
): RowColumn<OperatorRow> {
  const meta = { width: `minmax(${narrowest}, 6rem)`, isNumber: true, phone: false } as const;
  return column(header, meta, (row) => {
    const text = of(row);
    return text === '0' || text === '?' ? <span className="muted">{text}</span> : text;
  });
}
