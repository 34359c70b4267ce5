import { useState } from 'react';
import { call, download } from '../../api/call.ts';
import type { Answers } from '../../api/wire.ts';
import { Action } from '../../parts/action.tsx';
import { Plain } from '../../parts/plain.tsx';

type Player = Answers['GET /admin/players/:userId'];
type Forgotten = Answers['POST /admin/players/:userId/forget'];

/** A player's legal rights: a copy of what is kept, or its deletion. */
export function PlayerRights({ player }: { readonly player: Player }) {
  const { userId, operatorUser } = player;
  const [forgotten, setForgotten] = useState<Forgotten | undefined>();
  const path = { userId };
  return (
    <section aria-labelledby="rights">
      <h2 id="rights">What is kept of the player</h2>
      {forgotten !== undefined && (
        <p className="notice good" role="status">
          Blanked in {forgotten.messages} messages and {forgotten.attempts} answers of{' '}
          {forgotten.bets} bets.
        </p>
      )}
      <div className="buttons start">
        <Action
          right="personal"
          label="Export"
          title={`Export ${operatorUser}`}
          about="A file for the player: ids, sessions, totals, and each bet with its messages. The export is recorded in the audit."
          reason="optional"
          refreshes={false}
          run={(reason) =>
            download(
              'POST /admin/players/:userId/export',
              { path, body: { reason } },
              { accept: 'application/x-ndjson', name: `player-${userId}.ndjson` },
            )
          }
        />
        <Action
          right="administer"
          label="Forget"
          tone="danger"
          title={`Forget ${operatorUser}`}
          about={
            <>
              Names, addresses and free text in messages and answers of{' '}
              <Plain text={operatorUser} /> are blanked. Ids and money facts stay. It cannot be
              taken back, and is refused while a bet is open.
            </>
          }
          reason="required"
          run={async (reason) => {
            setForgotten(
              await call('POST /admin/players/:userId/forget', { path, body: { reason } }),
            );
          }}
        />
      </div>
    </section>
  );
}
