import { getRouteApi } from '@tanstack/react-router';
import { download } from '../../api/call.ts';
import { usePages } from '../../api/pages.ts';
import type { Answers } from '../../api/wire.ts';
import { Empty } from '../../parts/answered.tsx';
import { Time } from '../../parts/clock.tsx';
import { DownloadButton } from '../../parts/download-button.tsx';
import { filterFields } from '../../parts/filter-fields.tsx';
import { Heading } from '../../parts/heading.tsx';
import { PagedRows } from '../../parts/paged.tsx';
import { Plain } from '../../parts/plain.tsx';
import { column, type RowColumn } from '../../parts/rows.tsx';
import { readAuditFilter } from '../filters.ts';

type Item = Answers['GET /admin/audit']['items'][number];

const route = getRouteApi('/audit');

/** Who did what, when, from where and why. */
export function AuditPage() {
  const filter = route.useSearch();
  const audit = usePages('GET /admin/audit', { ...filter });
  const navigate = route.useNavigate();
  const { text } = filterFields(
    filter,
    (change) => void navigate({ search: readAuditFilter({ ...filter, ...change }), replace: true }),
  );
  return (
    <>
      <Heading title="Audit" query={audit}>
        <DownloadButton
          label="Export"
          fetch={() =>
            download(
              'GET /admin/audit/export',
              { query: { ...filter } },
              { accept: 'application/x-ndjson', name: 'audit.ndjson' },
            )
          }
        />
      </Heading>
      <search className="filters">
        {text('actor', 'Who')}
        {text('action', 'Action')}
        {text('operator', 'Operator')}
        {text('from', 'From (UTC)', 'date')}
        {text('to', 'Before (UTC)', 'date')}
      </search>
      <PagedRows
        list={audit}
        what="audit rows"
        label="Audit, newest first"
        columns={COLUMNS}
        idOf={({ id }) => id}
        rowPx={64}
        empty={<Empty title="Nothing on record">Nobody has done what you searched for.</Empty>}
      />
    </>
  );
}

const COLUMNS: readonly RowColumn<Item>[] = [
  column('When', { width: 'minmax(5rem, 8rem)' }, ({ at }) => <Time at={at} />),
  column('Who', { width: 'minmax(5rem, 1fr)' }, ({ actor, role, address }) => (
    <span className="stack">
      <Plain text={actor} />
      <span className="muted">
        {role}, <Plain text={address} />
      </span>
    </span>
  )),
  column('What', { width: 'minmax(7rem, 1.4fr)' }, ({ action, subject }) => (
    <span className="stack">
      <strong>{action}</strong>
      <Plain text={subject} />
    </span>
  )),
  column('Operator', { width: 'minmax(4rem, 0.6fr)', phone: 'below' }, ({ operator }) =>
    operator === null ? null : <Plain text={operator} />,
  ),
  column('Before, after', { width: 'minmax(8rem, 2fr)', phone: 'below' }, ({ before, after }) => (
    <span className="stack">
      <Value value={before} />
      <Value value={after} />
    </span>
  )),
  column('Why', { width: 'minmax(6rem, 1.4fr)', phone: 'below' }, ({ reason }) =>
    reason === null ? <span className="muted">–</span> : <Plain text={reason} />,
  ),
];

function Value({ value }: { readonly value: unknown }) {
  if (value === null || value === undefined) return null;
  return (
    <code>
      <Plain text={JSON.stringify(value)} />
    </code>
  );
}
