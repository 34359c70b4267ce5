import { Client, type QueryResultRow } from 'pg';
import { createOperator } from '../../../tools/simulator/operator.ts';
import type { ServicePlayer } from '../../../tools/simulator/service.ts';
import type { SimulatedWallet } from '../../../tools/simulator/wallet/wallet.ts';
import { openSurroundings } from '../../support/gateway.ts';
import { type GatewayProcess, startGateway } from '../../support/processes.ts';

type Settings = Readonly<Record<string, unknown>>;
type Env = Readonly<Record<string, string>>;

export interface DeploymentOptions {
  /** Merged into `gateway.yaml`. */
  readonly gateway?: Settings;
  /** Merged into each operator's file, by id; default: one operator `alpha`. */
  readonly operators?: Readonly<Record<string, Settings>>;
}

/** A gateway process that takes callbacks. */
export interface Replica {
  readonly process: GatewayProcess;
  readonly baseUrl: string;
  readonly adminUrl: string;
}

/** Everything that gateway processes need: servers, wallets, a configuration folder. */
export interface Deployment {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly configFolder: string;
  /** The environment of a gateway process; all ports are free ones. */
  readonly env: Env;
  readonly wallets: readonly SimulatedWallet[];
  wallet(operatorId: string): SimulatedWallet;
  /** Starts a process, and waits until it listens. */
  replica(env?: Env): Promise<Replica>;
  /** A player with money and a live session, opened at this address. */
  player(baseUrl: string, options?: PlayerOptions): Promise<ServicePlayer & { user: string }>;
  /** Queries the journal. */
  query<Row extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  close(): Promise<void>;
}

export interface PlayerOptions {
  readonly operatorId?: string;
  readonly currency?: string;
  readonly balance?: string;
}

export async function openDeployment(options: DeploymentOptions = {}): Promise<Deployment> {
  const around = await openSurroundings(options);
  const { database, redis, wallets, configFolder } = around;
  const client = new Client({ connectionString: database.url });
  // A test may end the connection or its server: the next statement fails then.
  client.on('error', () => undefined);
  await client.connect();
  const env: Env = {
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    GATEWAY_CONFIG: configFolder,
    HOST: '127.0.0.1',
    PORT: '0',
    ADMIN_PORT: '0',
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  };
  const walletOf = (id: string) => {
    const wallet = wallets.get(id);
    if (wallet === undefined) throw new Error(`no operator ${id} in this deployment`);
    return wallet;
  };
  let players = 0;

  return {
    databaseUrl: database.url,
    redisUrl: redis.url,
    configFolder,
    env,
    wallets: [...wallets.values()],
    wallet: walletOf,
    replica: async (more = {}) => {
      const process = await startGateway({ env: { ...env, ...more } });
      const addressOf = async (message: string) => {
        const line = await process.waitForLine(({ json }) => json?.msg === message, 30_000);
        return String(line.json?.address);
      };
      const adminUrl = await addressOf('gateway.admin_listening');
      return { process, adminUrl, baseUrl: await addressOf('gateway.listening') };
    },
    player: async (baseUrl, { operatorId = 'alpha', currency = 'USD', balance = '1000' } = {}) => {
      players += 1;
      const user = `player-${players}`;
      const operatorToken = `operator-token-${players}`;
      walletOf(operatorId).addPlayer({
        user,
        balances: { [currency]: balance },
        tokens: { [operatorToken]: currency },
      });
      const [cid, secret] = [`${operatorId}-key`, `${operatorId}-api-secret-that-is-long-enough`];
      const operator = createOperator({ baseUrl, cid, secret });
      const { session, body } = await operator.openSession({
        operatorUser: user,
        currency,
        operatorToken,
      });
      await operator.close();
      if (session === undefined) throw new Error(`no session: ${body}`);
      return { userId: session.userId, token: session.token, currency, user };
    },
    query: async <Row extends QueryResultRow>(text: string, values: readonly unknown[] = []) =>
      (await client.query<Row>(text, [...values])).rows,
    close: async () => {
      await client.end();
      await around.close();
    },
  };
}
