import { getRouteApi, Link } from '@tanstack/react-router';
import { DIFFERENCE_KINDS, LIST_COLUMNS } from '../../../domain/reconciliation.ts';
import { call } from '../../api/call.ts';
import { usePages } from '../../api/pages.ts';
import { useLive } from '../../api/queries.ts';
import type { Answers } from '../../api/wire.ts';
import { Action } from '../../parts/action.tsx';
import { Answered, Empty } from '../../parts/answered.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Choice } from '../../parts/choice.tsx';
import { Time } from '../../parts/clock.tsx';
import { Figure } from '../../parts/facts.tsx';
import { Heading } from '../../parts/heading.tsx';
import { Paged } from '../../parts/paged.tsx';
import { Plain } from '../../parts/plain.tsx';
import { wordsOf } from '../../parts/tone.ts';
import { openCount, RUN_TONES } from './run.ts';

type Run = Answers['GET /admin/reconciliations/:id'];
type Difference = Answers['GET /admin/reconciliations/:id/differences']['items'][number];

const route = getRouteApi('/reconciliations/$id');

/** The comparison of one list with the journal, and its differences. */
export function ReconciliationPage() {
  const { id } = route.useParams();
  const run = useLive('GET /admin/reconciliations/:id', { path: { id } });
  return (
    <>
      <Heading title={`Reconciliation ${id}`} query={run} />
      <Answered query={run} what="reconciliation of this id">
        {(data) => <RunView run={data} />}
      </Answered>
    </>
  );
}

function RunView({ run }: { readonly run: Run }) {
  const { operator, from, to, timeZone, state, why, progress, counts, actor, createdAt } = run;
  return (
    <>
      <p>
        <Badge state={state} tone={RUN_TONES[state]} /> <Plain text={operator} />, {from} to {to} (
        {timeZone}), {progress.lines.toLocaleString('en')} lines; asked by <Plain text={actor} />{' '}
        <Time at={createdAt} />
      </p>
      {state === 'done' && <Compared columns={run.columns} />}
      {why !== null && (
        <p className="notice bad">
          <Plain text={why} />
        </p>
      )}
      {counts !== null && (
        <dl className="figures counted">
          <Figure name="open">{openCount(run)?.toLocaleString('en')}</Figure>
          {Object.entries(counts)
            .filter(([, count]) => count > 0)
            .map(([kind, count]) => (
              <Figure key={kind} name={wordsOf(kind)}>
                {count.toLocaleString('en')}
              </Figure>
            ))}
        </dl>
      )}
      {state === 'done' && <Differences id={run.id} />}
    </>
  );
}

/** Lists that agree say nothing about a column that theirs lacks, such as one of payouts by another name. */
function Compared({ columns }: Pick<Run, 'columns'>) {
  const lacking = LIST_COLUMNS.filter((column) => !columns.includes(column));
  return (
    <>
      <p className="muted">Compared: {columns.join(', ')}.</p>
      {lacking.length > 0 && (
        <p className="notice warn">
          Not compared, because the list has no such column: {lacking.join(', ')}. If it has one by
          another name, compare it again with the names of its columns.
        </p>
      )}
    </>
  );
}

function Differences({ id }: { readonly id: string }) {
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const differences = usePages('GET /admin/reconciliations/:id/differences', { ...filter }, { id });
  return (
    <section aria-labelledby="differences">
      <h2 id="differences">Where they differ</h2>
      <Choice
        label="Kind"
        value={filter.kind}
        all="All kinds"
        options={DIFFERENCE_KINDS}
        onChange={(kind) =>
          void navigate({ search: kind === undefined ? {} : { kind }, replace: true })
        }
      />
      <Paged list={differences} what="differences">
        {(items) => {
          if (items.length === 0) {
            return filter.kind === undefined ? (
              <Empty title="No differences">The lists agree in what was compared.</Empty>
            ) : (
              <Empty title="No difference of this kind" />
            );
          }
          return (
            <ul className="steps differences">
              {items.map((one) => (
                <DifferenceView key={one.id} run={id} difference={one} />
              ))}
            </ul>
          );
        }}
      </Paged>
    </section>
  );
}

function DifferenceView({ run, difference }: { run: string; difference: Difference }) {
  const { id, kind, transactionId, here, there, line, reason, known, resolution } = difference;
  return (
    <li>
      <p>
        <Badge state={kind} tone={resolution === null ? 'warn' : 'good'} />{' '}
        {known && <span className="muted">known before </span>}
        {transactionId !== null && (
          <Link to="/bets/$id" params={{ id: transactionId }} className="mono">
            <Plain text={transactionId} />
          </Link>
        )}{' '}
        {line !== null && <span className="muted">line {line}</span>}
      </p>
      {(here !== null || there !== null) && (
        <dl className="facts">
          <Side name="Here" bet={here} missing="not here" />
          <Side name="There" bet={there} missing="not there" />
        </dl>
      )}
      {reason !== null && (
        <p className="muted">
          <Plain text={reason} />
        </p>
      )}
      {resolution !== null ? (
        <p>
          Resolved <Time at={resolution.at} /> by <Plain text={resolution.by} />:{' '}
          <Plain text={resolution.reason} />
        </p>
      ) : (
        <div className="buttons start">
          <Action
            right="books"
            label="Resolve"
            title="Resolve the difference"
            subject={id}
            about="For later lists too, as long as both say the same of this bet. It moves no money."
            reason="required"
            run={(why) =>
              call('POST /admin/reconciliations/:id/differences/:difference/resolve', {
                path: { id: run, difference: id },
                body: { reason: why },
              })
            }
          />
        </div>
      )}
    </li>
  );
}

type Listed = Difference['here'];

interface SideProps {
  readonly name: string;
  readonly bet: Difference['there'];
  readonly missing: string;
}

/** Shows every copy of a bet that is listed several times: perhaps only one of them agrees with the other side. */
function Side({ name, bet, missing }: SideProps) {
  const { copies = 1, others = [] } = bet ?? {};
  return (
    <div>
      <dt>{copies > 1 ? `${name}, ${copies} times` : name}</dt>
      {[bet, ...others].map((one, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are lines of a list, and two may say the same
        <dd key={at}>
          <ListedBet bet={one} missing={missing} />
        </dd>
      ))}
      {copies > others.length + 1 && <dd className="muted">and more</dd>}
    </div>
  );
}

function ListedBet({ bet, missing }: { readonly bet: Listed; readonly missing: string }) {
  const textOf = (text: string | null | undefined) => <Plain text={text ?? '–'} />;
  if (bet === null) return <span className="muted">{missing}</span>;
  return (
    <>
      {textOf(bet.state)}, stake {textOf(bet.stake)}, payout {textOf(bet.payout)}{' '}
      {textOf(bet.currency)}
    </>
  );
}
