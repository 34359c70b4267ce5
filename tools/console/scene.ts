import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { rebuildBooks } from '../../src/books/rebuild.ts';
import { createCast } from '../demo/cast.ts';
import { playJourney } from '../demo/journey/journey.ts';
import type { Players } from '../demo/journey/scene.ts';
import { Narrator } from '../demo/narrator.ts';
import { openStage, type Stage } from '../demo/stage.ts';

const CONFIG = resolve(import.meta.dirname, '../../config');

/** Operators in addition to the demo's two, so that Now looks as on a working day. */
const OTHERS: readonly (readonly [id: string, name: string, status: string])[] = [
  ['cedar', 'Cedar Bets', 'active'],
  ['delta', 'Delta Play', 'active'],
  ['ember', 'Ember Sports', 'maintenance'],
  ['fjord', 'Fjord Odds', 'active'],
  ['grove', 'Grove Casino', 'active'],
  ['harbor', 'Harbor Games', 'suspended'],
  ['indigo', 'Indigo Bet', 'active'],
  ['juniper', 'Juniper Sport', 'active'],
];

/** A gateway with a history, and the bets that show it. */
export interface PictureScene {
  readonly stage: Stage;
  /** `dead`: its rollback is a dead letter. `delivered`: its wallet was away first. */
  readonly bets: { readonly dead: string; readonly delivered: string };
  close(): Promise<void>;
}

/**
 * Plays the demo's journey, then a bad night at alpha: its wallet goes away, one rollback becomes a dead letter.
 * @throws Error
 */
export async function playPictureScene(): Promise<PictureScene> {
  const configFolder = await writeConfig();
  const narrator = new Narrator(process.stdout);
  narrator.silence();
  const stage = await openStage(createCast(), {
    progress: (doing) => process.stderr.write(`${doing}\n`),
    signal: new AbortController().signal,
    configFolder,
  });
  const close = async () => {
    await stage.close();
    await rm(configFolder, { recursive: true, force: true });
  };
  try {
    const players = await playJourney(stage, narrator);
    if (players === undefined) throw new Error(narrator.failures.join('; '));
    await daysBefore(stage, players);
    return { stage, bets: await badNight(stage, players), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function writeConfig(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'wagergate-pictures-'));
  await cp(CONFIG, folder, { recursive: true });
  for (const [id, name, status] of OTHERS) {
    const secret = (what: string) => `${id}-${what}-secret-of-the-pictures-only`;
    await writeFile(
      join(folder, 'operators', `${id}.yaml`),
      `id: ${id}\nname: ${name}\nstatus: ${status}\n` +
        `wallet: { baseUrl: https://wallet.${id}.example/sportsbook, secrets: [${secret('wallet')}] }\n` +
        `api: { cid: ${id}-key, secrets: [${secret('api')}] }\ncurrencies: [USD]\n`,
    );
  }
  return folder;
}

const DAYS = 6;
const BETS_A_DAY = 5;

/** Plays bets of earlier days: placed now and then dated back, because the books are computed from the journal. */
async function daysBefore({ service, environment }: Stage, players: Players): Promise<void> {
  const ages = new Map<string, number>();
  for (let day = 1; day <= DAYS; day++) {
    for (const player of [players.anna, players.ben, players.carla]) {
      for (let bet = 1; bet <= BETS_A_DAY; bet++) {
        const { transactionId } = await service.place({
          ...player,
          amount: `${1 + (bet % 2)}.${day}0`,
        });
        ages.set(transactionId, day);
        if (bet === BETS_A_DAY) continue;
        const amount = (bet + day) % 3 === 0 ? `${2 + (day % 3)}.25` : '0';
        const resultType = amount === '0' ? 'lost' : 'won';
        await service.settle(transactionId, { amount, resultType });
      }
    }
  }
  await untilBooked(environment);
  await makeOlder(environment, ages);
  const { DATABASE_URL = '' } = environment;
  await rebuildBooks(DATABASE_URL, { timeZone: 'UTC', fromDay: undefined, log: () => undefined });
  await untilClosed(environment);
}

/** All in one transaction, so that the bookkeeper sees none of them half done. */
async function makeOlder(
  environment: Stage['environment'],
  ages: ReadonlyMap<string, number>,
): Promise<void> {
  const bets = 'unnest($1::text[], $2::int[]) AS age(id, days)';
  const values = [[...ages.keys()], [...ages.values()]];
  await withClient(environment, async (client) => {
    await client.query('BEGIN');
    await client.query(
      `UPDATE attempts a SET started_at = a.started_at - make_interval(days => age.days)
         FROM operations o, ${bets} WHERE o.id = a.operation_id AND o.transaction_id = age.id`,
      values,
    );
    await client.query(
      `UPDATE bets b SET created_at = b.created_at - make_interval(days => age.days)
         FROM ${bets} WHERE b.transaction_id = age.id`,
      values,
    );
    await client.query('COMMIT');
  });
}

/** What is already booked is booked as of today; nothing may be closed before it is booked again. */
async function untilBooked(environment: Stage['environment']): Promise<void> {
  await untilTrue(
    environment,
    `SELECT NOT EXISTS (
       SELECT 1 FROM attempts a, books_cursor c WHERE a.confirmed
          AND (a.written_in, a.operation_id, a.number) > (c.written_in, c.operation_id, c.number)
     ) AS "isTrue"`,
    'not everything is booked',
  );
}

/** The workers close one day after another. */
async function untilClosed(environment: Stage['environment']): Promise<void> {
  await untilTrue(
    environment,
    `SELECT count(*) >= ${DAYS - 1} AS "isTrue" FROM books_statements WHERE operator_id = 'alpha'`,
    'the days before are not closed',
  );
}

async function badNight(stage: Stage, { anna }: Players): Promise<PictureScene['bets']> {
  const { service, wallets, environment } = stage;
  const place = async (amount: string) => (await service.place({ ...anna, amount })).transactionId;
  const delivered = await place('4.20');
  const dead = await place('12.50');
  const waiting = [await place('3.00'), await place('7.77')];
  wallets.alpha.misbehave(
    'rollback',
    { kind: 'status', status: 502, body: '<h1>Bad Gateway</h1>' },
    { calls: 3 },
  );
  await service.rollback(delivered);
  await until(environment, delivered, 'delivered');
  wallets.alpha.misbehave('rollback', { kind: 'code', code: 5, message: 'cannot do that' });
  for (const bet of [dead, ...waiting]) await service.rollback(bet);
  // The horizon is over: the next attempt is the last one.
  await change(environment, dead, "dead_at = now() - interval '1 s', next_attempt_at = now()");
  await until(environment, dead, 'dead');
  await fetch(`${stage.gateway.adminUrl}/admin/operators/alpha/deliveries/hold`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stage.cast.adminToken}` },
    body: JSON.stringify({ reason: 'their wallet is being mended' }),
  });
  return { dead, delivered };
}

async function change(
  environment: Stage['environment'],
  transactionId: string,
  set: string,
): Promise<void> {
  await withClient(environment, (client) =>
    client.query(`UPDATE deliveries SET ${set} WHERE transaction_id = $1`, [transactionId]),
  );
}

async function until(
  environment: Stage['environment'],
  transactionId: string,
  state: string,
): Promise<void> {
  await untilTrue(
    environment,
    'SELECT count(*) > 0 AS "isTrue" FROM deliveries WHERE transaction_id = $1 AND state = $2',
    `the rollback of ${transactionId} is not ${state}`,
    [transactionId, state],
  );
}

async function untilTrue(
  environment: Stage['environment'],
  query: string,
  otherwise: string,
  values: readonly string[] = [],
): Promise<void> {
  const GIVE_UP_AFTER = 300;
  await withClient(environment, async (client) => {
    for (let look = 0; look < GIVE_UP_AFTER; look++) {
      const { rows } = await client.query<{ isTrue: boolean }>(query, [...values]);
      if (rows[0]?.isTrue === true) return;
      await sleep(200);
    }
    throw new Error(otherwise);
  });
}

async function withClient<T>(
  { DATABASE_URL }: Stage['environment'],
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({ connectionString: DATABASE_URL });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
