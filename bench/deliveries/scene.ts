import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type QueryResultRow } from 'pg';
import { stringify } from 'yaml';
import { readEncryptionKeys } from '../../src/config/environment/encryption-keys.ts';
import type { BetOwner } from '../../src/domain/bet.ts';
import { sealOperatorToken } from '../../src/sessions/stored-token.ts';
import { TokenVault } from '../../src/sessions/token-vault.ts';
import { Database } from '../../src/store/database.ts';
import { migrate } from '../../src/store/schema/migrate.ts';
import { Players } from '../../src/store/sessions/players.ts';
import { SessionStore } from '../../src/store/sessions/session-store.ts';
import { insertBacklog } from '../../test/deliveries/support/backlog.ts';
import { startPostgres } from '../../tools/embedded/postgres.ts';
import { startRedis } from '../../tools/embedded/redis.ts';
import { type Child, type ChildOptions, startChild } from '../support/child.ts';
import { START_FLAGS } from '../support/start-flags.ts';

/** PostgreSQL (fsync on), Redis, a wallet that accepts at once, and an operator that uses it. */
export interface Scene extends AsyncDisposable {
  readonly walletUrl: string;
  /** Writes promised rollbacks of the operator. */
  fill(prefix: string, count: number): Promise<void>;
  query<Row extends QueryResultRow>(text: string): Promise<readonly Row[]>;
  /** A gateway that only delivers, in its own process. */
  startWorker(nodeArgs?: ChildOptions['nodeArgs']): Promise<Child>;
}

const OPERATOR = 'alpha';
/** Enough players that the row of a single player or session is no bottleneck. */
const PLAYERS = 100;
const ENCRYPTION_KEY = randomBytes(32);

export async function openScene(): Promise<Scene> {
  await using running = new AsyncDisposableStack();
  const postgres = await startPostgres();
  running.defer(() => postgres.stop());
  const redis = await startRedis();
  running.defer(() => redis.stop());
  await migrate(postgres.url);
  const wallet = running.use(await startChild({ script: 'bench/support/wallet.ts' }));
  const { port } = await wallet.line((line) => typeof line.port === 'number');
  const walletUrl = `http://127.0.0.1:${port}`;
  const configFolder = await writeConfiguration(walletUrl);
  running.defer(() => rm(configFolder, { recursive: true, force: true }));
  const { url } = postgres;
  const database = new Database({ url, connectionsMax: 4, onIdleError: () => undefined });
  running.defer(() => database.close());
  const client = new Client({ connectionString: url });
  await client.connect();
  running.defer(() => client.end());
  const players = await makePlayers(database, OPERATOR);
  const kept = running.move();
  return {
    walletUrl,
    fill: async (prefix, count) => {
      const each = Math.ceil(count / PLAYERS);
      for (const [n, player] of players.entries()) {
        const backlog = { ...player.owner, sessionId: player.sessionId, count: each };
        await insertBacklog(client, { ...backlog, prefix: `${prefix}-${n}` });
      }
      await client.query('VACUUM ANALYZE');
    },
    query: async <Row extends QueryResultRow>(text: string) => (await client.query<Row>(text)).rows,
    startWorker: (nodeArgs = () => []) =>
      startChild({
        script: 'src/main.ts',
        nodeArgs: (folder) => [...START_FLAGS, ...nodeArgs(folder)],
        env: {
          DATABASE_URL: url,
          REDIS_URL: redis.url,
          GATEWAY_CONFIG: configFolder,
          ROLES: 'worker',
          ADMIN_PORT: '0',
          LOG_LEVEL: 'info',
          ENCRYPTION_KEY: ENCRYPTION_KEY.toString('base64'),
          NODE_ENV: 'production',
        },
      }),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** All settings that matter here have their defaults. */
async function writeConfiguration(baseUrl: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'wagergate-bench-config-'));
  await mkdir(join(folder, 'operators'));
  const own = () => [randomBytes(24).toString('base64url')];
  const service = { cid: 'aggregator', secrets: own(), bonusApiUrl: 'http://127.0.0.1:9' };
  await writeFile(join(folder, 'gateway.yaml'), stringify({ service }));
  const operator = {
    id: OPERATOR,
    name: OPERATOR,
    wallet: { baseUrl, allowPrivate: true, secrets: own() },
    api: { cid: `${OPERATOR}-key`, secrets: own() },
    currencies: ['USD'],
  };
  await writeFile(join(folder, 'operators', `${OPERATOR}.yaml`), stringify(operator));
  return folder;
}

/** Players, each with the session in which their bets were placed. */
function makePlayers(
  database: Database,
  operatorId: string,
): Promise<readonly { readonly owner: BetOwner; readonly sessionId: string }[]> {
  const players = new Players(database);
  const sessions = new SessionStore(database);
  const vault = new TokenVault(readEncryptionKeys(ENCRYPTION_KEY.toString('base64')));
  return Promise.all(
    Array.from({ length: PLAYERS }, async (_, n) => {
      const owner = await players.ensure(operatorId, `player-${n}`);
      const operatorToken = randomBytes(12).toString('hex');
      const tokenHash = randomBytes(32);
      const session = await sessions.insert({
        player: owner,
        operatorId,
        currency: 'USD',
        tokenHash,
        token: undefined,
        operatorToken: sealOperatorToken(vault, operatorToken, tokenHash),
        operatorTokenHash: vault.hash(operatorToken),
        ordinal: 1,
        isIssued: true,
        ttlSeconds: 86_400,
      });
      if (session === undefined) throw new Error('no session');
      return { owner, sessionId: session.id };
    }),
  );
}
