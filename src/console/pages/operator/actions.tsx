import { call } from '../../api/call.ts';
import { refreshAll } from '../../api/queries.ts';
import type { Answers } from '../../api/wire.ts';
import { Action } from '../../parts/action.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Ago } from '../../parts/clock.tsx';
import { Plain } from '../../parts/plain.tsx';

type Operator = Answers['GET /admin/operators/:id'];

/** Holds an operator's deliveries, or lets them go on. */
export function HoldAction({ operator }: { readonly operator: Operator }) {
  const { id, hold } = operator;
  const post = async (verb: 'hold' | 'resume', reason: string) => {
    const options = { path: { id }, body: reason === '' ? {} : { reason } };
    if (verb === 'hold') await call('POST /admin/operators/:id/deliveries/hold', options);
    else await call('POST /admin/operators/:id/deliveries/resume', options);
    await refreshAll();
  };
  return (
    <div className="switch">
      <div>
        <h3>Deliveries</h3>
        {hold === null ? (
          <p className="muted">They go out as soon as they are due.</p>
        ) : (
          <p>
            <Badge state="held" /> since <Ago at={hold.since} /> by <Plain text={hold.actor} />
            {hold.reason !== null && (
              <>
                : <Plain text={hold.reason} />
              </>
            )}
          </p>
        )}
      </div>
      {hold === null ? (
        <Action
          right="operate"
          label="Hold"
          title={`Hold the deliveries of ${id}`}
          about="No attempt is made and no delivery ages until somebody resumes them. Bets are placed as before."
          reason="required"
          run={(reason) => post('hold', reason)}
        />
      ) : (
        <Action
          right="operate"
          label="Resume"
          tone="main"
          title={`Resume the deliveries of ${id}`}
          about="What is due goes out at once."
          reason="optional"
          run={(reason) => post('resume', reason)}
        />
      )}
    </div>
  );
}

const CLASSES = [
  { name: 'money', title: 'Bets', about: 'place, settle, unsettle, rollback and update' },
  { name: 'read', title: 'Profile and balance', about: 'profile and balance' },
] as const;

/** What each position of a breaker does, for who is about to choose it. */
const POSITIONS = [
  { state: 'open', label: 'Open', does: 'Nothing is sent to the wallet until it is set back.' },
  {
    state: 'closed',
    label: 'Keep closed',
    does: 'Everything is sent, however often the wallet fails.',
  },
  {
    state: 'auto',
    label: 'Leave to itself',
    does: 'It opens and closes by the wallet’s failures.',
  },
] as const;

/** A breaker is set by hand, or left to itself. */
export function BreakerActions({ operator }: { readonly operator: Operator }) {
  const { id, breaker, override } = operator;
  return CLASSES.map(({ name, title, about }) => (
    <div className="switch" key={name}>
      <div>
        <h3>Breaker: {title}</h3>
        <p className="muted">
          <Badge state={breaker[name]} />{' '}
          {override[name] === 'auto' ? 'by itself' : `set ${override[name]} by hand`}
        </p>
      </div>
      <div className="buttons">
        {POSITIONS.filter(({ state }) => state !== override[name]).map(({ state, label, does }) => (
          <Action
            right="administer"
            key={state}
            label={label}
            tone={state === 'open' ? 'danger' : 'plain'}
            title={`${label}: ${title} of ${id}`}
            about={`${does} This is about ${about}.`}
            reason="optional"
            run={async (reason) => {
              await call('POST /admin/operators/:id/breaker', {
                path: { id },
                body: { class: name, state, ...(reason === '' ? {} : { reason }) },
              });
              await refreshAll();
            }}
          />
        ))}
      </div>
    </div>
  ));
}
