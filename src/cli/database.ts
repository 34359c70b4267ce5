import { DatabaseError } from 'pg';
import { ignoredSchema, noUrl, shownAddress } from '../lib/server-address.ts';
import { Database } from '../store/database.ts';
import { whatIsPending } from '../store/schema/journal-database.ts';
import { MigrationError, migrate } from '../store/schema/migrate.ts';
import type { Prisma } from '../store/schema/prisma.ts';
import { refuseSharedSession } from '../store/server/start-check.ts';
import { UnsuitableServer } from '../store/server/unsuitable-server.ts';
import { CommandFailed } from './failures.ts';
import type { Terminal } from './terminal.ts';

const EXAMPLE = 'postgresql://user:password@host:5432/wagergate';

/**
 * Applies the missing migrations. @param log receives a line for each step @returns the names applied
 * @throws CommandFailed when the database cannot be reached; MigrationError
 */
export async function migrateDatabase(
  env: NodeJS.ProcessEnv,
  log: (line: string) => void,
): Promise<readonly string[]> {
  const address = databaseAddress(env);
  const { applied } = await explained(address, (url) => migrate(url, { log }));
  return applied;
}

/**
 * Does work on a database that answers and has the schema of this release, both checked first.
 * @throws CommandFailed when there is no such database
 */
export async function withReadyDatabase<T>(
  terminal: Terminal,
  use: (url: string) => Promise<T>,
): Promise<T> {
  const address = databaseAddress(terminal.env);
  await explained(address, refuseSharedSession);
  const pending = await explained(address, whatIsPending);
  if (pending !== undefined) throw new CommandFailed(`${pending}: run \`wagergate migrate\``);
  return await use(address.url);
}

/** A Prisma client on a ready database for one piece of work. @throws CommandFailed without one */
export async function withPrisma<T>(
  terminal: Terminal,
  use: (prisma: Prisma) => Promise<T>,
): Promise<T> {
  return await withReadyDatabase(terminal, async (url) => {
    // Imported here: the client takes a third of a second that no other command should pay.
    const { createPrisma } = await import('../store/schema/prisma.ts');
    const prisma = createPrisma(url);
    try {
      return await use(prisma);
    } finally {
      await prisma.$disconnect();
    }
  });
}

/** A small pool on a ready database for one piece of work. @throws CommandFailed without one */
export async function withDatabase<T>(
  terminal: Terminal,
  use: (database: Database, url: string) => Promise<T>,
): Promise<T> {
  return await withReadyDatabase(terminal, async (url) => {
    // A connection that is lost while idle is replaced by the next statement.
    const database = new Database({ url, connectionsMax: 2, onIdleError: () => undefined });
    try {
      return await use(database, url);
    } finally {
      await database.close();
    }
  });
}

/** An address of PostgreSQL, and the variable that it is from. */
interface Address {
  readonly name: string;
  readonly url: string;
}

/** The address without a pooler if there is one: some commands need a session of their own. */
function databaseAddress(env: NodeJS.ProcessEnv): Address {
  const direct = env.DATABASE_DIRECT_URL?.trim();
  const [name, url] = direct
    ? ['DATABASE_DIRECT_URL', direct]
    : ['DATABASE_URL', env.DATABASE_URL?.trim()];
  if (!url) {
    throw new CommandFailed(`DATABASE_URL is not set: set it, e.g. DATABASE_URL=${EXAMPLE}`);
  }
  if (!URL.canParse(url)) {
    throw new CommandFailed(`${name} ${noUrl(url, EXAMPLE)}`);
  }
  const { protocol } = new URL(url);
  if (protocol !== 'postgresql:' && protocol !== 'postgres:') {
    throw new CommandFailed(
      `${name} is of ${protocol}//, the gateway needs PostgreSQL: expected e.g. ${EXAMPLE}`,
    );
  }
  const ignored = ignoredSchema(url);
  if (ignored !== undefined) throw new CommandFailed(`${name} ${ignored}`);
  return { name, url };
}

/** Runs work that connects to PostgreSQL itself, and explains why it could not connect. */
async function explained<T>(
  { name, url }: Address,
  connect: (url: string) => Promise<T>,
): Promise<T> {
  try {
    return await connect(url);
  } catch (error) {
    const why = error instanceof UnsuitableServer ? error.message : connectionFault(error, name);
    if (why === undefined) throw error;
    throw new CommandFailed(`PostgreSQL (${shownAddress(url)}) ${why}`, { cause: error });
  }
}

/** Error codes of sockets and of name resolution; a file that cannot be read has others. */
const NETWORK_CODES: ReadonlySet<unknown> = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);

function connectionFault(error: unknown, name: string): string | undefined {
  if (error instanceof DatabaseError) {
    if (error.code === '3D000') return `has no such database: create it, or correct ${name}`;
    if (error.code?.startsWith('28')) {
      return `refuses the user (${error.message}): correct ${name}`;
    }
    // The server is starting, stopping, or has no connection left.
    return error.code?.startsWith('57') || error.code?.startsWith('53')
      ? `is not ready (${error.message}): try again`
      : undefined;
  }
  if (error instanceof AggregateError) return connectionFault(error.errors[0], name);
  if (!(error instanceof Error) || error instanceof MigrationError) return undefined;
  const isNetwork = 'code' in error && NETWORK_CODES.has(error.code);
  // The messages of `pg` that have no code.
  return isNetwork || /timeout|terminated/i.test(error.message)
    ? `cannot be reached (${error.message}): start it, or correct ${name}`
    : undefined;
}
