import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { request } from 'undici';
import { insertBacklog } from '../../test/deliveries/support/backlog.ts';
import { createOperator } from '../../tools/simulator/operator.ts';
import type { ServicePlayer } from '../../tools/simulator/service.ts';
import type { Load } from '../open-loop/load.ts';
import type { OperatorsFolder } from '../support/operators.ts';
import { openSessions } from '../support/players.ts';
import type { GatewaySide } from '../support/surroundings.ts';

export const BAD_IDS = ['hanging', 'endless', 'backlogged', 'issuing'] as const;
export type BadId = (typeof BAD_IDS)[number];

/** A wallet that never answers has 100 calls under way: this many per second, each for its full 4 s. */
const HANGING_PER_SECOND = 25;
const ENDLESS_PER_SECOND = 3;
/** Places that keep its deliveries from having the process to themselves while load generators start. */
const BACKLOGGED_PER_SECOND = 20;
const ISSUE_EVERY_MS = 500;
/** At this size an operator reaches the highest rate of entries that it is allowed. */
const BATCH = 100;
/** Until all hanging calls are under way. */
const GATHER_MS = 4_500;
/** Until none of their calls is under way any more. */
const CALM_MS = 5_000;

export interface NeighboursOptions {
  readonly gateway: GatewaySide;
  readonly load: Load;
  readonly databaseUrl: string;
  readonly folder: OperatorsFolder;
  readonly adminToken: string;
  readonly template: number;
  /** The number of deliveries that wait for one of them. */
  readonly backlog: number;
}

/** Four operators that are bad neighbours; quiet until told otherwise. */
export class Neighbours {
  readonly #options: NeighboursOptions;
  readonly #players = new Map<string, readonly ServicePlayer[]>();
  #issued = 0;

  constructor(options: NeighboursOptions) {
    this.#options = options;
  }

  /** The number of bonuses issued so far. */
  get issued(): number {
    return this.#issued;
  }

  async prepare(): Promise<void> {
    const { folder, gateway, databaseUrl, backlog } = this.#options;
    for (const id of BAD_IDS) {
      const access = folder.access.get(id);
      if (access === undefined) throw new Error(`no operator ${id}`);
      this.#players.set(id, await openSessions(gateway.url, access, 10));
    }
    await this.#hold('hold');
    await onDatabase(databaseUrl, async (client) => {
      const { rows } = await client.query<{ player: string; user: string; session: string }>(
        `SELECT p.id AS player, p.user_id AS user, s.id AS session
           FROM players p JOIN sessions s ON s.player_id = p.id
          WHERE p.operator_id = 'backlogged' LIMIT 1`,
      );
      const [row] = rows;
      if (row === undefined) throw new Error('no player has a backlog');
      const owner = { playerId: row.player, userId: row.user, sessionId: row.session };
      const own = { operatorId: 'backlogged', prefix: 'backlog', count: backlog };
      await insertBacklog(client, { ...owner, ...own });
      await client.query('VACUUM ANALYZE');
    });
  }

  /** The number of deliveries that still wait. */
  async waiting(): Promise<number> {
    return await onDatabase(this.#options.databaseUrl, async (client) => {
      const { rows } = await client.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM deliveries
          WHERE operator_id = 'backlogged' AND state IN ('live', 'pending')`,
      );
      return rows[0]?.n ?? 0;
    });
  }

  /** The number of deliveries in the last seconds. */
  async deliveredWithin(seconds: number): Promise<number> {
    return await onDatabase(this.#options.databaseUrl, async (client) => {
      const { rows } = await client.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM deliveries
          WHERE operator_id = 'backlogged' AND state = 'delivered'
            AND settled_at > clock_timestamp() - make_interval(secs => $1)`,
        [seconds],
      );
      return rows[0]?.n ?? 0;
    });
  }

  /** Runs `work` while these operators cause trouble for about this long, then waits until they are calm. */
  async trouble<T>(who: readonly BadId[], seconds: number, work: () => Promise<T>): Promise<T> {
    const stop = new AbortController();
    const callsOf = (id: BadId, perSecond: number) =>
      who.includes(id) ? [this.#calls(id, perSecond, seconds + GATHER_MS / 1_000)] : [];
    const going = [
      ...callsOf('hanging', HANGING_PER_SECOND),
      ...callsOf('endless', ENDLESS_PER_SECOND),
      ...callsOf('backlogged', BACKLOGGED_PER_SECOND),
      ...(who.includes('issuing') ? [this.#issue(stop.signal)] : []),
    ];
    await sleep(GATHER_MS);
    if (who.includes('backlogged')) await this.#hold('resume');
    try {
      return await work();
    } finally {
      stop.abort();
      if (who.includes('backlogged')) await this.#hold('hold');
      await Promise.all(going);
      await sleep(CALM_MS);
    }
  }

  async #calls(id: BadId, perSecond: number, seconds: number): Promise<void> {
    const { gateway, load } = this.#options;
    const { phases } = await load.open(gateway, [{ perSecond, seconds }], {
      players: this.#players.get(id) ?? [],
      journaled: false,
    });
    console.log(`  bets of ${id} were answered ${JSON.stringify(phases[0]?.answers)}`);
  }

  async #issue(signal: AbortSignal): Promise<void> {
    const { folder, gateway, template: templateId } = this.#options;
    const access = folder.access.get('issuing');
    if (access === undefined) throw new Error('nobody issues');
    const operator = createOperator({ baseUrl: gateway.url, ...access });
    try {
      while (!signal.aborted) {
        const playersData = Array.from({ length: BATCH }, (_, n) => ({
          userId: `player-${this.#issued + n}`,
          ...{ currency: 'USD', betAmount: 5, betCount: 1, forceActivated: true },
        }));
        const { status, body } = await operator.call('/bonuses/bonus/applyBatch', {
          templateId,
          playersData,
        });
        if (status === 200) this.#issued += BATCH;
        // 429: it has brought more than it may at once, and comes again.
        else if (status !== 429) throw new Error(`a batch was answered ${status} ${body}`);
        await sleep(ISSUE_EVERY_MS);
      }
    } finally {
      await operator.close();
    }
  }

  async #hold(what: 'hold' | 'resume'): Promise<void> {
    const { gateway, adminToken } = this.#options;
    const url = `${gateway.adminUrl}/admin/operators/backlogged/deliveries/${what}`;
    const answer = await request(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      body: '{"reason":"benchmark"}',
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${what}: ${answer.statusCode} ${text}`);
  }
}

async function onDatabase<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
