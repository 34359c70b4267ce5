import { getRouteApi, Link } from '@tanstack/react-router';
import { useLive } from '../../api/queries.ts';
import type { Answers } from '../../api/wire.ts';
import { Answered } from '../../parts/answered.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Ago, Time } from '../../parts/clock.tsx';
import { Figure } from '../../parts/facts.tsx';
import { Heading } from '../../parts/heading.tsx';
import { Plain } from '../../parts/plain.tsx';
import { SettingsTable } from '../../parts/settings-table.tsx';
import { countText } from '../now/severity.ts';
import { TroubleBadges } from '../now/trouble-badges.tsx';
import { AssignTemplatesAction, BreakerActions, HoldAction, ReleaseAction } from './actions.tsx';
import { Certification } from './certification.tsx';
import { LastHourCharts } from './last-hour.tsx';
import { WalletProbe } from './wallet-probe.tsx';

type Operator = Answers['GET /admin/operators/:id'];

const route = getRouteApi('/operators/$id');

/** One operator's state, switches and settings. */
export function OperatorPage() {
  const { id } = route.useParams();
  const operator = useLive('GET /admin/operators/:id', { path: { id } });
  return (
    <>
      <Heading title={titleOf(id, operator.data?.name)} query={operator} />
      <Answered query={operator} what="operator of this id">
        {(data) => <OperatorView operator={data} />}
      </Answered>
    </>
  );
}

/** Names need not be unique, and which operator a switch is about must be seen. */
function titleOf(id: string, name = id): string {
  return name === id ? id : `${name}, ${id}`;
}

function OperatorView({ operator }: { readonly operator: Operator }) {
  return (
    <div className="operator">
      <p className="badges">
        <Badge state={operator.status} />
        <TroubleBadges row={operator} />
      </p>
      <Figures operator={operator} />
      <section aria-labelledby="last-hour">
        <h2 id="last-hour">The last hour</h2>
        <LastHourCharts minutes={operator.lastHour} />
      </section>
      <section aria-labelledby="switches">
        <h2 id="switches">Switches</h2>
        <HoldAction operator={operator} />
        <BreakerActions operator={operator} />
        <ReleaseAction operator={operator} />
        <AssignTemplatesAction operator={operator} />
      </section>
      <WalletProbe operator={operator} />
      <Certification id={operator.id} />
      <section aria-labelledby="settings">
        <h2 id="settings">Settings in force</h2>
        <LastReload reload={operator.lastReload} />
        <SettingsTable settings={operator.settings} label={`Settings of ${operator.id}`} />
      </section>
    </div>
  );
}

function Figures({ operator }: { readonly operator: Operator }) {
  const { id, inFlight, openDeliveries, heldDeliveries, countsAtLeast } = operator;
  const isKnown = openDeliveries !== null && heldDeliveries !== null;
  const openText = (count: number) =>
    `${count.toLocaleString('en')}${countsAtLeast.includes('openDeliveries') ? '+' : ''}`;
  const filtered = (state: string, text: string) =>
    text === '?' ? (
      text
    ) : (
      <Link to="/deliveries" search={{ operator: id, state }}>
        {text}
      </Link>
    );
  return (
    <dl className="figures">
      <Figure name="Dead">{filtered('dead', countText([operator], 'deadDeliveries'))}</Figure>
      <Figure name="Pending">
        {filtered('pending', isKnown ? openText(openDeliveries - heldDeliveries) : '?')}
      </Figure>
      <Figure name="Held">{filtered('held', isKnown ? openText(heldDeliveries) : '?')}</Figure>
      <Figure name="Unresolved bets">{countText([operator], 'unresolvedBets')}</Figure>
      <Figure name="Oldest waiting">
        {operator.oldestDelivery !== null && <Ago at={operator.oldestDelivery} />}
        {operator.oldestDelivery === null && (isKnown ? '–' : '?')}
      </Figure>
      <Figure name="In flight">{inFlight.read + inFlight.money}</Figure>
      <Figure name="Breaker, bets">
        <Badge state={operator.breaker.money} />
      </Figure>
      <Figure name="Breaker, profile and balance">
        <Badge state={operator.breaker.read} />
      </Figure>
      <Figure name="Currencies">
        <Plain text={operator.currencies.join(', ')} />
      </Figure>
    </dl>
  );
}

function LastReload({ reload }: { readonly reload: Operator['lastReload'] }) {
  return (
    <p className="muted">
      {reload.result === 'ok' ? (
        'What is in the folder is in force, '
      ) : (
        <>
          <Badge state="invalid" /> What is in the folder is not in force,{' '}
        </>
      )}
      last read well <Time at={reload.goodAt} />.
    </p>
  );
}
