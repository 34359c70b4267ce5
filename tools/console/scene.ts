import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { createCast } from '../demo/cast.ts';
import { playJourney } from '../demo/journey/journey.ts';
import type { Players } from '../demo/journey/scene.ts';
import { Narrator } from '../demo/narrator.ts';
import { openStage, type Stage } from '../demo/stage.ts';

const CONFIG = resolve(import.meta.dirname, '../../config');

/** Operators beside the demo's two, so that Now looks as it does on a working day. */
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

/** A gateway with something to tell, and the bets that tell it. */
export interface PictureScene {
  readonly stage: Stage;
  /** Declined, then dead, then one whose wallet was away; by what they show. */
  readonly bets: { readonly dead: string; readonly home: string };
  close(): Promise<void>;
}

/**
 * Plays the demo's journey, then a bad night at alpha: its wallet goes away, what was promised waits,
 * and one rollback is given up.
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

async function badNight(stage: Stage, { anna }: Players): Promise<PictureScene['bets']> {
  const { service, wallets, environment } = stage;
  const place = async (amount: string) => (await service.place({ ...anna, amount })).transactionId;
  const home = await place('4.20');
  const dead = await place('12.50');
  const waiting = [await place('3.00'), await place('7.77')];
  wallets.alpha.misbehave(
    'rollback',
    { kind: 'status', status: 502, body: '<h1>Bad Gateway</h1>' },
    { calls: 3 },
  );
  await service.rollback(home);
  await until(environment, home, 'delivered');
  wallets.alpha.misbehave('rollback', { kind: 'code', code: 5, message: 'cannot do that' });
  for (const bet of [dead, ...waiting]) await service.rollback(bet);
  // Its horizon is over: the next attempt is the last one.
  await change(environment, dead, "dead_at = now() - interval '1 s', next_attempt_at = now()");
  await until(environment, dead, 'dead');
  await fetch(`${stage.gateway.adminUrl}/admin/operators/alpha/deliveries/hold`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stage.cast.adminToken}` },
    body: JSON.stringify({ reason: 'their wallet is being mended' }),
  });
  return { dead, home };
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
  const GIVE_UP_AFTER = 300;
  await withClient(environment, async (client) => {
    for (let look = 0; look < GIVE_UP_AFTER; look++) {
      const { rowCount } = await client.query(
        'SELECT 1 FROM deliveries WHERE transaction_id = $1 AND state = $2',
        [transactionId, state],
      );
      if (rowCount !== 0) return;
      await sleep(200);
    }
    throw new Error(`the rollback of ${transactionId} is not ${state}`);
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
