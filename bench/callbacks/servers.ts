import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { ServicePlayer } from '../../tools/simulator/service.ts';
import { openSessions } from '../support/players.ts';
import { type GatewaySide, type Side, startSurroundings } from '../support/surroundings.ts';

/** A gateway with the example configuration, what it is compared with, and everything that all of them need. */
export interface Servers extends AsyncDisposable {
  readonly gateway: GatewaySide;
  readonly proxy: Side;
  readonly walletUrl: string;
  readonly databaseUrl: string;
  readonly postgresPid: number;
  /** Players of the gateway's operator, with live sessions. */
  readonly players: readonly ServicePlayer[];
  readonly serviceSecret: string;
  /** Whether the measured side has its own processor, and everything else another. */
  readonly isPinned: boolean;
}

export interface ServersOptions {
  /** Flags for the gateway's `node`, which keeps its files in this folder. */
  readonly gatewayFlags?: (folder: string) => readonly string[];
  /** How long the wallet takes for each answer; by default not at all. */
  readonly walletDelayMs?: number;
  /** Settings of PostgreSQL, by their names in `postgresql.conf`; by default its own defaults. */
  readonly postgres?: Readonly<Record<string, string>>;
}

const CONFIG_FOLDER = fileURLToPath(new URL('../../config', import.meta.url));
const API_SECRET = randomBytes(24).toString('base64url');
const SERVICE_SECRET = randomBytes(24).toString('base64url');
/** Enough players that the row of a single player or session is no bottleneck. */
const PLAYERS = 100;

export async function startServers(options: ServersOptions = {}): Promise<Servers> {
  const { gatewayFlags: flags = () => [] } = options;
  await using running = new AsyncDisposableStack();
  const around = running.use(await startSurroundings(options));
  const { walletUrl, databaseUrl, postgresPid, isPinned, startServer } = around;
  const proxy = await startServer('bench/callbacks/proxy.ts', [walletUrl], true);
  const gateway = await around.startGateway({
    configFolder: CONFIG_FOLDER,
    flags,
    env: environment(walletUrl),
  });
  const access = { cid: 'alpha-key', secret: API_SECRET };
  const players = await openSessions(gateway.url, access, PLAYERS);
  const kept = running.move();
  return {
    gateway,
    proxy,
    walletUrl,
    databaseUrl,
    postgresPid,
    players,
    serviceSecret: SERVICE_SECRET,
    isPinned,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** The variables of the example configuration. */
function environment(walletUrl: string): Readonly<Record<string, string>> {
  return {
    SERVICE_SECRET,
    SERVICE_BONUS_URL: 'http://127.0.0.1:9',
    ALPHA_WALLET_URL: walletUrl,
    ALPHA_WALLET_SECRET: randomBytes(24).toString('base64url'),
    ALPHA_API_SECRET: API_SECRET,
    BETA_WALLET_URL: walletUrl,
    BETA_WALLET_SECRET: randomBytes(24).toString('base64url'),
    BETA_API_SECRET: randomBytes(24).toString('base64url'),
  };
}
