import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { unreachable } from '../domain/unreachable.ts';
import { storableText } from '../lib/storable-text.ts';
import type { Answer } from '../protocol/answers.ts';
import type { AuditLog } from '../store/audit/audit-log.ts';
import type { Authority } from '../store/audit/audited.ts';
import type { Forgotten } from '../store/players/forget.ts';
import type { PlayerFacts, PlayerRecords } from '../store/players/player-records.ts';
import { conflict, json, notFoundAnswer, send, sendPieces, serve } from './answers.ts';
import type { AdminApi } from './api.ts';
import {
  checkedOptionalBody,
  checkedPath,
  checkedQuery,
  invalidField,
  reasonBody,
} from './input.ts';

const playerPath = z.object({ userId: storableText(64) });

const findQuery = z.strictObject({
  userId: storableText(64).optional(),
  operator: storableText(64).optional(),
  operatorUser: storableText(255).optional(),
});

export interface PlayerRoutes {
  readonly players: Pick<PlayerRecords, 'find' | 'file'>;
  readonly audit: Pick<AuditLog, 'append'>;
  /** One JSON object per line: the player, then each bet. */
  readonly exportPlayer: (userId: string) => AsyncIterable<string>;
  readonly forgetPlayer: (userId: string, by: Authority) => Promise<Forgotten>;
  /** @returns how many sessions it ended */
  readonly revokeSessions: (player: PlayerFacts, by: Authority) => Promise<number>;
}

/** Players, for callers with the right to personal data. */
export function playerRoutes(app: FastifyInstance, dependencies: PlayerRoutes): void {
  serve(app, 'GET', '/players', 'personal', async (request) => {
    const query = checkedQuery(findQuery, request);
    if (!('fields' in query)) return query;
    const { userId, operator, operatorUser } = query.fields;
    if (userId !== undefined) {
      const player = await dependencies.players.find({ userId });
      const isMeant =
        (operator ?? player?.operator) === player?.operator &&
        (operatorUser ?? player?.operatorUser) === player?.operatorUser;
      return found(isMeant ? player : undefined);
    }
    if (operator === undefined || operatorUser === undefined) {
      return invalidField('userId', 'give either userId, or both operator and operatorUser');
    }
    return found(await dependencies.players.find({ operator, operatorUser }));
  });

  serve(app, 'GET', '/players/:userId', 'personal', async (request, caller) => {
    const path = checkedPath(playerPath, request);
    if (!('fields' in path)) return path;
    const file = await dependencies.players.file(path.fields.userId);
    if (file === undefined) return noSuchPlayer();
    await dependencies.audit.append(
      { caller },
      { action: 'player.viewed', subject: `player ${file.userId}`, operator: file.operator },
    );
    return json(file satisfies AdminApi['GET /admin/players/:userId']);
  });

  serve(app, 'POST', '/players/:userId/sessions/revoke', 'operate', async (request) => {
    const wanted = await wantedBy(dependencies, request);
    if (!('player' in wanted)) return wanted;
    return json({ revoked: await dependencies.revokeSessions(wanted.player, wanted.by) });
  });

  forgetRoutes(app, dependencies);
}

/** A player's legal rights: export and erasure of personal data. */
function forgetRoutes(app: FastifyInstance, dependencies: PlayerRoutes): void {
  app.route({
    method: 'POST',
    url: '/players/:userId/export',
    config: { right: 'personal' },
    handler: async (request, reply) => {
      const wanted = await wantedBy(dependencies, request);
      if (!('player' in wanted)) {
        send(reply, wanted);
        return reply;
      }
      const { userId, operator } = wanted.player;
      const subject = `player ${userId}`;
      // Recorded before anything is sent.
      await dependencies.audit.append(wanted.by, { action: 'player.exported', subject, operator });
      reply.header('content-type', 'application/x-ndjson; charset=utf-8');
      reply.header('cache-control', 'no-store');
      return sendPieces(request, reply, () => dependencies.exportPlayer(userId));
    },
  });

  serve(app, 'POST', '/players/:userId/forget', 'administer', async (request) => {
    const wanted = await wantedBy(dependencies, request);
    if (!('player' in wanted)) return wanted;
    return forgottenAnswer(await dependencies.forgetPlayer(wanted.player.userId, wanted.by));
  });
}

/** The player named in the path, and the authority of the caller; or the answer that refuses. */
async function wantedBy(
  dependencies: PlayerRoutes,
  request: FastifyRequest,
): Promise<{ readonly player: PlayerFacts; readonly by: Authority } | Answer> {
  const { caller } = request;
  if (caller === undefined) throw new Error('it was reached without its guard');
  const path = checkedPath(playerPath, request);
  if (!('fields' in path)) return path;
  const input = checkedOptionalBody(reasonBody, request);
  if (!('fields' in input)) return input;
  const player = await dependencies.players.find(path.fields);
  if (player === undefined) return noSuchPlayer();
  return { player, by: { caller, reason: input.fields.reason } };
}

function forgottenAnswer(forgotten: Forgotten): Answer {
  switch (forgotten.kind) {
    case 'forgotten': {
      const { kind: _, ...counts } = forgotten;
      return json(counts satisfies AdminApi['POST /admin/players/:userId/forget']);
    }
    case 'open':
      return conflict(`Bets of the player are open: ${forgotten.transactionIds.join(', ')}`);
    case 'missing':
      return noSuchPlayer();
    default:
      return unreachable(forgotten);
  }
}

function found(player: PlayerFacts | undefined): Answer {
  const items = player === undefined ? [] : [player];
  return json({ items } satisfies AdminApi['GET /admin/players']);
}

function noSuchPlayer(): Answer {
  return notFoundAnswer('No such player');
}
