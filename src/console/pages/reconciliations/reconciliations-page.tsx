import { Link } from '@tanstack/react-router';
import { usePages } from '../../api/pages.ts';
import type { Answers } from '../../api/wire.ts';
import { Empty } from '../../parts/answered.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Time } from '../../parts/clock.tsx';
import { Heading } from '../../parts/heading.tsx';
import { PagedRows } from '../../parts/paged.tsx';
import { Plain } from '../../parts/plain.tsx';
import { column, type RowColumn } from '../../parts/rows.tsx';
import { openCount, RUN_TONES } from './run.ts';
import { Upload } from './upload.tsx';

type Run = Answers['GET /admin/reconciliations']['items'][number];

/** Lists that were compared with the journal, newest first. */
export function ReconciliationsPage() {
  const runs = usePages('GET /admin/reconciliations', {});
  return (
    <>
      <Heading title="Reconciliations" query={runs}>
        <Upload />
      </Heading>
      <PagedRows
        list={runs}
        what="reconciliations"
        label="Reconciliations, newest first"
        columns={COLUMNS}
        idOf={({ id }) => id}
        rowPx={56}
        empty={
          <Empty title="No list was compared yet">
            An operator's own list, or the service's, says where the books differ.
          </Empty>
        }
      />
    </>
  );
}

const COLUMNS: readonly RowColumn<Run>[] = [
  column('List', { width: 'minmax(8rem, 1.6fr)' }, ({ id, operator, from, to }) => (
    <span className="stack">
      <Link to="/reconciliations/$id" params={{ id }} className="row-link" data-row-link>
        <Plain text={operator} />, {id}
      </Link>
      <span className="muted">{from === to ? from : `${from} to ${to}`}</span>
    </span>
  )),
  column('State', { width: 'minmax(6rem, 1fr)' }, (run) => (
    <Badge state={run.state} tone={RUN_TONES[run.state]} />
  )),
  column(
    'Open',
    { width: '5rem', isNumber: true },
    (run) => openCount(run)?.toLocaleString('en') ?? '–',
  ),
  column('Lines', { width: '6rem', isNumber: true, phone: false }, ({ progress }) =>
    progress.lines.toLocaleString('en'),
  ),
  column('By', { width: 'minmax(6rem, 1fr)', phone: false }, ({ actor }) => <Plain text={actor} />),
  column('Asked', { width: '9rem', phone: false }, ({ createdAt }) => <Time at={createdAt} />),
];
