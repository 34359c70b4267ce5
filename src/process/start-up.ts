import { Client } from 'pg';
import type { Environment } from '../config/environment/environment.ts';
import type { Clock } from '../domain/clock.ts';
import { GatewayError } from '../domain/errors.ts';
import { errorMessage } from '../lib/faults.ts';
import { shownAddress } from '../lib/server-address.ts';
import { OutOfTime, within } from '../lib/within.ts';
import type { Accelerator } from '../redis/accelerator.ts';
import type { AnswerCache } from '../redis/answer-cache.ts';
import { databaseId, whatIsPending } from '../store/schema/journal-database.ts';
import { MigrationError, migrate } from '../store/schema/migrate.ts';
import {
  keepsCommits,
  refuseMixedStatements,
  refuseSharedSession,
} from '../store/server/start-check.ts';
import { UnsuitableServer } from '../store/server/unsuitable-server.ts';
import type { Logger } from '../telemetry/logger.ts';

/** A server that does not answer within this is unreachable (docs/reference.md, Commands). */
const REACHABLE_MS = 15_000;
const RETRY_MS = 250;
/** How long a start waits for Redis. */
const GREETING_MS = 1_000;

/**
 * Waits for PostgreSQL and checks its schema, after migrating if so configured. @returns the database's id
 * @throws GatewayError `CANNOT_START` when it is unreachable, lacks migrations or must not be used
 */
export async function awaitDatabase(
  environment: Environment,
  clock: Clock,
  logger: Logger,
): Promise<string> {
  const usual = { name: 'DATABASE_URL', url: environment.databaseUrl };
  const hasTwo = environment.directDatabaseUrl !== usual.url;
  const direct = hasTwo
    ? { name: 'DATABASE_DIRECT_URL', url: environment.directDatabaseUrl }
    : usual;
  await reachDatabase(usual, clock);
  if (hasTwo) await reachDatabase(direct, clock);
  await explained(usual, 'read', () => refuseMixedStatements(usual.url));
  await explained(direct, 'read', () => refuseSharedSession(direct.url));
  if (environment.migrateOnStart) {
    const log = (line: string) => logger.info({ line }, 'start.migration');
    await explained(direct, 'migrated', () => migrate(direct.url, { log }));
  }
  // Through the usual address even after a migration through the direct one.
  const pending = await explained(usual, 'read', () => whatIsPending(usual.url));
  if (pending !== undefined) {
    throw new GatewayError(
      'CANNOT_START',
      `${pending}: run \`wagergate migrate\` (in a clone: \`npm run migrate\`) or start with MIGRATE_ON_START=true`,
    );
  }
  const id = await explained(usual, 'read', () => databaseId(usual.url));
  if (hasTwo && (await explained(direct, 'read', () => databaseId(direct.url))) !== id) {
    throw new GatewayError(
      'CANNOT_START',
      `DATABASE_DIRECT_URL (${shownAddress(direct.url)}) and DATABASE_URL ` +
        `(${shownAddress(usual.url)}) lead to different databases: correct one of them`,
    );
  }
  if (!(await explained(usual, 'read', () => keepsCommits(usual.url)))) {
    const note = 'a crash of PostgreSQL loses bets that wallets have taken: set it to on';
    logger.warn({ note }, 'postgresql.synchronous_commit_off');
  }
  return id;
}

/** An address of PostgreSQL, and the variable that it is from. */
interface Address {
  readonly name: string;
  readonly url: string;
}

/** Explains in one line why the schema could not be read or migrated, such as for lack of a privilege. */
async function explained<T>(
  address: Address,
  what: 'read' | 'migrated',
  schema: () => Promise<T>,
): Promise<T> {
  try {
    return await schema();
  } catch (cause) {
    if (cause instanceof MigrationError) throw cause;
    const why =
      cause instanceof UnsuitableServer
        ? ` ${cause.message}`
        : `: its schema could not be ${what}: ${errorMessage(cause)}`;
    throw new GatewayError('CANNOT_START', `${shown(address)}${why}`, { cause });
  }
}

async function reachDatabase(address: Address, clock: Clock): Promise<void> {
  const endsAtMs = clock.monotonicMs() + REACHABLE_MS;
  let why: unknown;
  for (;;) {
    // A process that was held up may have gone past the end while it paused.
    const leftMs = Math.max(0, endsAtMs - clock.monotonicMs());
    try {
      await within(leftMs, connectOnce(address.url, leftMs + RETRY_MS));
      return;
    } catch (error) {
      // The last try may have only a moment left: an earlier try's error says more than its timeout.
      if (why === undefined || !(error instanceof OutOfTime)) why = error;
      if (error instanceof OutOfTime || clock.monotonicMs() + RETRY_MS >= endsAtMs) {
        throw new GatewayError(
          'CANNOT_START',
          `${shown(address)} cannot be reached: ${errorMessage(why)}`,
          { cause: why },
        );
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/** @param limitMs longer than the caller waits: it ends a try that was given up */
async function connectOnce(connectionString: string, limitMs: number): Promise<void> {
  const client = new Client({ connectionString, connectionTimeoutMillis: Math.ceil(limitMs) });
  // The connection may break again while it is being closed; the next one will tell.
  client.on('error', () => undefined);
  await client.connect();
  await client.end();
}

/**
 * Waits a moment for Redis and starts without it if need be. Cached answers wait for its confirmed fences.
 * @throws GatewayError `CANNOT_START` when Redis has no database of the number in REDIS_URL
 */
export async function greetRedis(
  environment: Environment,
  { accelerator, answers }: { readonly accelerator: Accelerator; readonly answers: AnswerCache },
  logger: Logger,
): Promise<void> {
  void accelerator.joined.then(() => warnIfItEvicts(accelerator, logger));
  try {
    await accelerator.connected(GREETING_MS);
  } catch (error) {
    const where = `Redis (REDIS_URL, ${shownAddress(environment.redisUrl)})`;
    if (accelerator.refusedDatabase !== undefined) {
      throw new GatewayError('CANNOT_START', `${where} cannot be used: ${errorMessage(error)}`, {
        cause: error,
      });
    }
    const note = `${where} is away: works on PostgreSQL alone, and Redis joins when it comes`;
    logger.warn({ error: errorMessage(error), note }, 'start.redis_away');
  }
  await answers.begin();
}

async function warnIfItEvicts(accelerator: Accelerator, logger: Logger): Promise<void> {
  const policy = await accelerator.evictionPolicy();
  if (policy === undefined || policy === 'noeviction') return;
  const note = 'set maxmemory-policy to noeviction, or deliveries wait for the sweep';
  logger.error({ policy, note }, 'redis.evicts');
}

function shown({ name, url }: Address): string {
  return `PostgreSQL (${name}, ${shownAddress(url)})`;
}
