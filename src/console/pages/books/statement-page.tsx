import { getRouteApi, Link } from '@tanstack/react-router';
import { download } from '../../api/call.ts';
import { useLive } from '../../api/queries.ts';
import type { Answers } from '../../api/wire.ts';
import { Answered, Empty } from '../../parts/answered.tsx';
import { Time } from '../../parts/clock.tsx';
import { CopyButton, Id } from '../../parts/copyable.tsx';
import { DownloadButton } from '../../parts/download-button.tsx';
import { Fact } from '../../parts/facts.tsx';
import { Heading } from '../../parts/heading.tsx';
import { Plain } from '../../parts/plain.tsx';

type Statement = Answers['GET /admin/books/statements/:operator/:day'];

const route = getRouteApi('/books/$operator/$day');

/** A closed day of an operator. It never changes, so it is asked for only once. */
export function StatementPage() {
  const { operator, day } = route.useParams();
  const path = { operator, day };
  const statement = useLive('GET /admin/books/statements/:operator/:day', { path, everyMs: false });
  return (
    <>
      <Heading title={`${operator}, ${day}`}>
        <DownloadButton
          label="Download CSV"
          fetch={() =>
            download(
              'GET /admin/books/statements/:operator/:day',
              { path },
              { accept: 'text/csv', name: `${operator}-${day}.csv` },
            )
          }
        />
      </Heading>
      <Answered query={statement} what="statement">
        {(data) => <StatementView statement={data} />}
      </Answered>
    </>
  );
}

function StatementView({ statement }: { readonly statement: Statement }) {
  const { operator, timeZone, startsAt, endsAt, closedAt, movements, sha256 } = statement;
  const text = JSON.stringify(statement, undefined, 2);
  return (
    <>
      <dl className="facts">
        <Fact name="Operator">
          <Link to="/books" search={{ operator }}>
            <Plain text={operator} />
          </Link>
        </Fact>
        <Fact name={`The day, in ${timeZone}`}>
          <Time at={startsAt} zone={timeZone} /> to <Time at={endsAt} zone={timeZone} />
        </Fact>
        <Fact name="Closed">
          <Time at={closedAt} />
        </Fact>
        <Fact name="Movements, one line of the CSV each">{movements.toLocaleString('en')}</Fact>
        <Fact name="SHA-256 of the CSV">
          <Id text={sha256} name="SHA-256" />
        </Fact>
      </dl>
      <Totals totals={statement.totals} />
      <OpenAtClosing statement={statement} />
      <section aria-labelledby="json">
        <h2 id="json">As JSON</h2>
        <details>
          <summary>As the API and the command line give it</summary>
          <CopyButton text={text} label="Copy the JSON" />
          <pre className="message">
            <Plain text={text} />
          </pre>
        </details>
      </section>
    </>
  );
}

/** The names of the sums, in the order in which they make up the net. */
const SUMS = [
  ['Bets', ({ bets }) => bets.toLocaleString('en')],
  ['Stakes', ({ stakes }) => stakes],
  ['Stakes returned', ({ stakeReturns }) => stakeReturns],
  ['Payouts', ({ payouts }) => payouts],
  ['Payouts reversed', ({ payoutReversals }) => payoutReversals],
  ['Net', ({ net }) => net],
  ['Stakes of freebets', ({ freebetStakes }) => freebetStakes],
  ['Open bets', ({ openBets }) => openBets.toLocaleString('en')],
  ['Stakes of open bets', ({ openStakes }) => openStakes],
  ['Unresolved', ({ unresolved }) => unresolved.toLocaleString('en')],
] as const satisfies readonly (readonly [
  name: string,
  of: (totals: Statement['totals'][number]) => string,
])[];

function Totals({ totals }: { readonly totals: Statement['totals'] }) {
  return (
    <section aria-labelledby="totals">
      <h2 id="totals">Sums</h2>
      {totals.length === 0 ? (
        <Empty title="Nothing was booked" />
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys
        <section className="scrolled" aria-label="Sums by currency" tabIndex={0}>
          <table className="settings sums">
            <thead>
              <tr>
                <th scope="col">Sum</th>
                {totals.map(({ currency }) => (
                  <th scope="col" key={currency}>
                    <Plain text={currency} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {SUMS.map(([name, of]) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  {totals.map((one) => (
                    <td key={one.currency}>{of(one)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </section>
  );
}

function OpenAtClosing({ statement }: { readonly statement: Statement }) {
  const { open, openCount } = statement;
  return (
    <section aria-labelledby="open">
      <h2 id="open">Open when it was closed</h2>
      {open.length === 0 ? (
        <p className="muted">Nothing: every operation of the day was answered for.</p>
      ) : (
        <>
          {openCount > open.length && (
            <p className="muted">
              The first {open.length} of {openCount.toLocaleString('en')}.
            </p>
          )}
          <ul className="story">
            {open.map(({ transactionId, operation, why, since }) => (
              <li key={`${transactionId} ${operation} ${since}`}>
                <Time at={since} />
                <span>
                  <Link to="/bets/$id" params={{ id: transactionId }}>
                    <Plain text={transactionId} />
                  </Link>{' '}
                  {operation}: <Plain text={why} />
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
