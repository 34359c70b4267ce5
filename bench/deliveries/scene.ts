import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { BetOwner } from '../../src/domain/bet.ts';
import { startPostgres } from '../../src/embedded/postgres.ts';
import { startRedis } from '../../src/embedded/redis.ts';
import { TokenVault } from '../../src/sessions/token-vault.ts';
import { Database } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { Players } from '../../src/store/players.ts';
import { SessionStore } from '../../src/store/session-store.ts';
import { type Child, type ChildOptions, startChild } from '../support/child.ts';

/** A player with the session that its bets were placed in. */
export interface BenchPlayer {
  readonly owner: BetOwner;
  readonly sessionId: string;
}

export interface Scene extends AsyncDisposable {
  readonly databaseUrl: string;
  readonly database: Database;
  /** Players of an operator, made on the first call. */
  players(operatorId: string): Promise<readonly BenchPlayer[]>;
  /** A gateway that only brings deliveries home, in a process of its own. */
  startWorker(nodeArgs?: ChildOptions['nodeArgs']): Promise<Child>;
}

/** Enough that no row of a single player or session is what is measured. */
const PLAYERS = 100;
const ENCRYPTION_KEY = randomBytes(32);

/** PostgreSQL (fsync on), Redis, and a wallet that says yes at once; one operator is in maintenance. */
export async function openScene(): Promise<Scene> {
  await using running = new AsyncDisposableStack();
  const postgres = await startPostgres();
  running.defer(() => postgres.stop());
  const redis = await startRedis();
  running.defer(() => redis.stop());
  await migrate(postgres.url);
  const wallet = running.use(await startChild({ script: 'bench/callbacks/instant-wallet.ts' }));
  const { port } = await wallet.line((line) => typeof line.port === 'number');
  const configFolder = await writeConfiguration(`http://127.0.0.1:${port}`);
  running.defer(() => rm(configFolder, { recursive: true, force: true }));
  const database = new Database({
    url: postgres.url,
    connectionsMax: 4,
    onIdleError: () => undefined,
  });
  running.defer(() => database.close());
  const players = new Map<string, Promise<readonly BenchPlayer[]>>();
  const kept = running.move();
  return {
    databaseUrl: postgres.url,
    database,
    players: (operatorId) => {
      const made = players.get(operatorId) ?? makePlayers(database, operatorId);
      players.set(operatorId, made);
      return made;
    },
    startWorker: async (nodeArgs = () => []) => {
      const worker = await startChild({
        script: 'src/main.ts',
        nodeArgs,
        env: {
          DATABASE_URL: postgres.url,
          REDIS_URL: redis.url,
          GATEWAY_CONFIG: configFolder,
          ROLES: 'worker',
          ADMIN_PORT: '0',
          LOG_LEVEL: 'info',
          ENCRYPTION_KEY: ENCRYPTION_KEY.toString('base64'),
          NODE_ENV: 'production',
        },
      });
      return worker;
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function writeConfiguration(walletUrl: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'wagergate-bench-config-'));
  await mkdir(join(folder, 'operators'));
  const secret = randomBytes(24).toString('base64url');
  await writeFile(
    join(folder, 'gateway.yaml'),
    stringify({
      service: { cid: 'aggregator', secrets: [secret], bonusApiUrl: 'http://127.0.0.1:9' },
    }),
  );
  for (const [id, status] of [
    ['alpha', 'active'],
    ['held', 'maintenance'],
  ]) {
    await writeFile(
      join(folder, 'operators', `${id}.yaml`),
      stringify({
        id,
        name: id,
        status,
        wallet: { baseUrl: walletUrl, allowPrivate: true, secrets: [secret] },
        api: { cid: `${id}-key`, secrets: [secret] },
        currencies: ['USD'],
      }),
    );
  }
  return folder;
}

function makePlayers(database: Database, operatorId: string): Promise<readonly BenchPlayer[]> {
  const players = new Players(database);
  const sessions = new SessionStore(database);
  const vault = new TokenVault(ENCRYPTION_KEY);
  return Promise.all(
    Array.from({ length: PLAYERS }, async (_, n) => {
      const owner = await players.ensure(operatorId, `player-${n}`);
      const operatorToken = randomBytes(12).toString('hex');
      const session = await sessions.insert({
        playerId: owner.playerId,
        operatorId,
        currency: 'USD',
        tokenHash: randomBytes(32),
        token: undefined,
        operatorToken: vault.seal(operatorToken),
        operatorTokenHash: vault.hash(operatorToken),
        ordinal: 1,
        ttlSeconds: 86_400,
      });
      if (session === undefined) throw new Error('no session');
      return { owner, sessionId: session.id };
    }),
  );
}
