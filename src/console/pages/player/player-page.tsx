import { getRouteApi, Link } from '@tanstack/react-router';
import { call } from '../../api/call.ts';
import { useLive } from '../../api/queries.ts';
import type { Answers } from '../../api/wire.ts';
import { Action } from '../../parts/action.tsx';
import { Answered, Empty } from '../../parts/answered.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Time, useNowMs } from '../../parts/clock.tsx';
import { Amount, Id } from '../../parts/copyable.tsx';
import { Fact } from '../../parts/facts.tsx';
import { Heading } from '../../parts/heading.tsx';
import { Plain } from '../../parts/plain.tsx';
import { PlayerRights } from './player-rights.tsx';

type Player = Answers['GET /admin/players/:userId'];

const route = getRouteApi('/players/$id');

/** One player. Each look is recorded in the audit, so it is asked for once and not refreshed. */
export function PlayerPage() {
  const { id } = route.useParams();
  const player = useLive('GET /admin/players/:userId', { path: { userId: id }, everyMs: false });
  return (
    <>
      <Heading title="Player" query={player} oldAfterSeconds="never" />
      <Answered query={player} what="player of this id">
        {(data) => <PlayerView player={data} />}
      </Answered>
    </>
  );
}

function PlayerView({ player }: { readonly player: Player }) {
  const { userId, operator, operatorUser, createdAt } = player;
  return (
    <>
      <dl className="facts">
        <Fact name="At the operator">
          <Id text={operatorUser} name="player" />
        </Fact>
        <Fact name="At the service">
          <Id text={userId} name="user id" />
        </Fact>
        <Fact name="Operator">
          <Link to="/operators/$id" params={{ id: operator }}>
            <Plain text={operator} />
          </Link>
        </Fact>
        <Fact name="Known since">
          <Time at={createdAt} />
        </Fact>
        <Fact name="Bets">
          <Link to="/bets" search={{ userId }}>
            All bets of this player
          </Link>
        </Fact>
      </dl>
      <Totals totals={player.totals} />
      <Sessions player={player} />
      <PlayerRights player={player} />
    </>
  );
}

function Totals({ totals }: { readonly totals: Player['totals'] }) {
  return (
    <section aria-labelledby="totals">
      <h2 id="totals">Totals</h2>
      {totals.length === 0 ? (
        <Empty title="No bets yet" />
      ) : (
        <dl className="figures">
          {totals.map(({ currency, bets, open, stakes, payouts }) => (
            <div className="figure" key={currency}>
              <dt>
                {bets} bets, {open} open
              </dt>
              <dd>
                <Amount amount={stakes} currency={currency} />
              </dd>
              <dd className="muted">
                paid <Amount amount={payouts} currency={currency} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

function Sessions({ player }: { readonly player: Player }) {
  const { sessions, userId } = player;
  // An expired session can still be renewed if its token is the operator’s own (prefixed sessions).
  const canBeRevoked = sessions.some(({ endedAt }) => endedAt === null);
  return (
    <section aria-labelledby="sessions">
      <h2 id="sessions">Sessions</h2>
      {canBeRevoked && (
        <Action
          right="operate"
          label="Revoke all"
          tone="danger"
          title="Revoke all sessions of this player"
          about="The player has to sign in again. Open bets still settle and roll back."
          reason="required"
          run={(reason) =>
            call('POST /admin/players/:userId/sessions/revoke', {
              path: { userId },
              body: { reason },
            })
          }
        />
      )}
      {sessions.length === 0 ? (
        <Empty title="No sessions" />
      ) : (
        <ul className="story">
          {sessions.map((session) => (
            <li key={session.id}>
              <Time at={session.createdAt} />
              <span>
                <Plain text={session.currency} /> <SessionState session={session} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function SessionState({ session }: { readonly session: Player['sessions'][number] }) {
  const { expiresAt, endedAt, endedReason } = session;
  const nowMs = useNowMs();
  if (endedAt !== null) {
    return (
      <>
        ended <Time at={endedAt} /> <Plain text={endedReason ?? ''} />
      </>
    );
  }
  if (Date.parse(expiresAt) <= nowMs) {
    return (
      <>
        expired <Time at={expiresAt} />
      </>
    );
  }
  return (
    <>
      <Badge state="active" /> until <Time at={expiresAt} />
    </>
  );
}
