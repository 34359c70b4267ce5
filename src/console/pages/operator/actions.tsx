import { useId, useState } from 'react';
import { call } from '../../api/call.ts';
import type { Answers } from '../../api/wire.ts';
import { Action } from '../../parts/action.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Ago } from '../../parts/clock.tsx';
import { Plain } from '../../parts/plain.tsx';

type Operator = Answers['GET /admin/operators/:id'];

/** Holds an operator's deliveries, or resumes them. */
export function HoldAction({ operator }: { readonly operator: Operator }) {
  const { id } = operator;
  const { hold, isKnown } = useHold(operator);
  const post = (verb: 'hold' | 'resume', reason: string | undefined) =>
    call(`POST /admin/operators/:id/deliveries/${verb}`, { path: { id }, body: { reason } });
  return (
    <div className="switch">
      <div>
        <h3>Deliveries</h3>
        {!isKnown && (
          <p>
            PostgreSQL does not answer: whether somebody holds them is not known
            {hold !== null && ', only how it was before'}.
          </p>
        )}
        {hold === null ? (
          isKnown && <p className="muted">{whenOut(operator)}</p>
        ) : (
          <Held hold={hold} />
        )}
      </div>
      {hold === null ? (
        // Two keys: if somebody else holds or resumes meanwhile, an open window must not turn into its opposite.
        <Action
          key="hold"
          right="operate"
          label="Hold"
          title={`Hold the deliveries of ${id}`}
          about="No attempt is made and no delivery ages until somebody resumes them. Bets are placed as before."
          reason="required"
          run={(reason) => post('hold', reason)}
        />
      ) : (
        <Action
          key="resume"
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

/** As `wagergate operator status` has it: `go out`, `go out, 3 held` or `wait`. */
function whenOut({ status, breaker, heldDeliveries }: Operator): string {
  if (status === 'maintenance') return 'They wait for the end of the maintenance.';
  if (breaker.money !== 'closed') return 'They wait for the breaker of bets to close.';
  return (heldDeliveries ?? 0) === 0
    ? 'They go out as soon as they are due.'
    : 'They go out as soon as they are due, but for those of other wallets, which wait for a release.';
}

/** The hold as last known if it cannot be read now; so an open window about it stays as well. */
function useHold({ hold, openDeliveries }: Operator) {
  // Without PostgreSQL's counts there are no holds either (docs/reference.md, Internal API).
  const isKnown = openDeliveries !== null;
  const [last, setLast] = useState(isKnown ? hold : null);
  if (isKnown && hold !== last) setLast(hold);
  return { hold: isKnown ? hold : last, isKnown };
}

function Held({
  hold: { since, actor, reason },
}: {
  readonly hold: NonNullable<Operator['hold']>;
}) {
  return (
    <p>
      <Badge state="held" /> <Ago at={since} /> by <Plain text={actor} />
      {reason !== null && (
        <>
          : <Plain text={reason} />
        </>
      )}
    </p>
  );
}

/**
 * Sends bets of another wallet to the present one: bets of an older wallet, or of a newer one that was given up.
 */
export function ReleaseAction({ operator }: { readonly operator: Operator }) {
  const { id, settings } = operator;
  const present = Number(settings['wallet.generation']);
  const [typed, setTyped] = useState<string | undefined>();
  // The file may be reloaded under an open page: what nobody has typed is the present number.
  const upTo = typed ?? String(present);
  const [released, setReleased] = useState<number | undefined>();
  const field = useId();
  return (
    <div className="switch">
      <div>
        <h3>Bets of other wallets</h3>
        <p className="muted" role="status">
          The wallet is of generation {present}: deliveries of bets of another one are held until
          they are released.
          {released !== undefined && ` Released just now: bets of generations up to ${released}.`}
        </p>
      </div>
      <Action
        right="administer"
        label="Release"
        tone="danger"
        title={`Release bets of other wallets of ${id}`}
        about="Bets of generations up to this one are sent to the present wallet from now on. Do this only when it knows them."
        reason="required"
        run={async (reason) => {
          const generation = Number(upTo);
          await call('POST /admin/operators/:id/release', {
            path: { id },
            body: { generation, reason },
          });
          setReleased(generation);
        }}
      >
        <div className="field">
          <label htmlFor={field}>Up to generation (higher where the number was lowered)</label>
          <input
            id={field}
            type="number"
            min={present}
            value={upTo}
            onChange={({ target }) => setTyped(target.value)}
            required
          />
        </div>
      </Action>
    </div>
  );
}

/** Assigns templates of the service's console to the operator. */
export function AssignTemplatesAction({ operator: { id } }: { readonly operator: Operator }) {
  const [templates, setTemplates] = useState('');
  const [result, setResult] = useState<string | undefined>();
  const field = useId();
  return (
    <div className="switch">
      <div>
        <h3>Templates of bonuses</h3>
        <p className="muted" role="status">
          {result ?? 'Those created in the service’s own console belong to nobody until assigned.'}
        </p>
      </div>
      <Action
        right="administer"
        label="Assign"
        title={`Assign templates to ${id}`}
        about="From then on this operator reads, lists and issues them, and nobody else does. All of them or none."
        reason="optional"
        run={async (reason) => {
          const { assigned, unchanged } = await call('POST /admin/operators/:id/templates/assign', {
            path: { id },
            body: {
              templates: templates.split(/[\s,]+/).filter((one) => one !== ''),
              reason,
            },
          });
          setResult(`${assigned.length} assigned, ${unchanged.length} were its own before.`);
        }}
      >
        <div className="field">
          <label htmlFor={field}>Ids at the service, separated by spaces or commas</label>
          <input
            id={field}
            value={templates}
            onChange={({ target }) => setTemplates(target.value)}
            inputMode="numeric"
            autoComplete="off"
            required
          />
        </div>
      </Action>
    </div>
  );
}

const CLASSES = [
  { name: 'money', title: 'Bets', about: 'place, settle, unsettle, rollback and update' },
  { name: 'read', title: 'Profile and balance', about: 'profile and balance' },
] as const;

/** What each state of a breaker does, for the person about to choose one. */
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

/** Sets a breaker by hand, or returns it to automatic. */
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
            run={(reason) =>
              call('POST /admin/operators/:id/breaker', {
                path: { id },
                body: { class: name, state, reason },
              })
            }
          />
        ))}
      </div>
    </div>
  ));
}
