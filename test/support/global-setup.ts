import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProvidedContext } from 'vitest';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../src/store/schema/migrate.ts';
import { buildIfStale } from '../../tools/console/build.ts';
import { startPostgres } from '../../tools/embedded/postgres.ts';
import { startRedis } from '../../tools/embedded/redis.ts';
import { Supervisor } from '../../tools/embedded/supervised.ts';
import { bundleIfStale } from './bundled.ts';
import { COMPILED_FOLDER, forgetOldCompiled } from './compiled.ts';
import { memoryFolder } from './memory-folder.ts';
import { databaseUrl, onServer } from './server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A database on the run's PostgreSQL server, from which others can be created. */
    postgresUrl: string;
    /** The prefix of all databases of this run. */
    databasePrefix: string;
    /** A migrated, empty database; `createDatabase` copies it. */
    templateDatabase: string;
    redisUrl: string;
  }
}

interface Server {
  readonly url: string;
  stop(): Promise<void>;
}

interface Run {
  readonly context: ProvidedContext;
  tearDown(): Promise<void>;
}

/** Each project loads this module again, in one process: what they share is kept here. */
const shared: typeof globalThis & {
  wagergateTests?: { users: number; readonly run: Promise<Run> };
} = globalThis;

/**
 * One PostgreSQL and one Redis for the whole run: embedded ones, or those named in `TEST_DATABASE_URL` (its user
 * must be allowed to create databases) and `TEST_REDIS_URL`.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared.wagergateTests ??= { users: 0, run: start() };
  const tests = shared.wagergateTests;
  tests.users += 1;
  const { context, tearDown } = await tests.run;
  project.provide('postgresUrl', context.postgresUrl);
  project.provide('databasePrefix', context.databasePrefix);
  project.provide('templateDatabase', context.templateDatabase);
  project.provide('redisUrl', context.redisUrl);
  return async () => {
    tests.users -= 1;
    if (tests.users > 0) return;
    delete shared.wagergateTests;
    await tearDown();
  };
}

async function start(): Promise<Run> {
  if (Number.parseInt(process.versions.node, 10) < 24) {
    throw new Error(`the tests need Node 24, this is ${process.version}: run them by \`npm test\``);
  }
  // Built once, here: files that each built it would replace the pages that others are reading.
  await buildIfStale();
  // Both run while PostgreSQL starts.
  const forgotten = forgetOldCompiled(COMPILED_FOLDER);
  const bundled = bundleIfStale();
  const temporary = await temporaryFolder();
  const servers: Server[] = [];
  const databasePrefix = `wagergate_test_${randomBytes(4).toString('hex')}`;
  const tearDown = async () => {
    const [postgres] = servers;
    if (postgres !== undefined) await dropDatabases(postgres.url, databasePrefix);
    await Promise.all(servers.map((server) => server.stop()));
    await temporary.remove();
  };
  try {
    const postgres = await postgresServer();
    servers.push(postgres);
    const redis = await redisServer();
    servers.push(redis);
    const templateDatabase = `${databasePrefix}_template`;
    await onServer(postgres.url, (client) => client.query(`CREATE DATABASE ${templateDatabase}`));
    await migrate(databaseUrl(postgres.url, templateDatabase));
    const [postgresUrl, redisUrl] = [postgres.url, redis.url];
    await Promise.all([forgotten, bundled]);
    return { context: { postgresUrl, databasePrefix, templateDatabase, redisUrl }, tearDown };
  } catch (error) {
    await tearDown();
    throw inOneLine(error);
  }
}

/**
 * One folder for everything that the tests of this run write. It is removed after the run, even if that is ended by
 * Ctrl-C or killed: a separate process takes care of it.
 */
async function temporaryFolder(): Promise<{ remove(): Promise<void> }> {
  const folder = join(tmpdir(), `wagergate-tests-${randomBytes(6).toString('hex')}`);
  const watcher = new Supervisor({ folder });
  // Readable for the users that run the servers.
  await mkdir(folder, { mode: 0o755 });
  const usual = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  return {
    remove: async () => {
      if (usual === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = usual;
      await watcher.close();
    },
  };
}

/** The message says what the machine lacks; a stack trace into the tests helps nobody. */
function inOneLine(error: unknown): Error {
  const line = new Error(error instanceof Error ? error.message : String(error));
  line.stack = line.message;
  return line;
}

async function postgresServer(): Promise<Server> {
  const url = process.env.TEST_DATABASE_URL;
  return url === undefined || url === ''
    ? startPostgres({
        fast: true,
        root: await memoryFolder(),
        settings: { max_connections: '400', max_wal_size: '128MB' },
      })
    : external(url);
}

async function redisServer(): Promise<Server> {
  const url = process.env.TEST_REDIS_URL;
  if (url !== undefined && url !== '') return external(url);
  try {
    return await startRedis();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`${why}, or name a running one in TEST_REDIS_URL`, { cause: error });
  }
}

function external(url: string): Server {
  return { url, stop: () => Promise.resolve() };
}

/** Drops what tests have not dropped themselves, which matters on a server that is not ours to throw away. */
async function dropDatabases(url: string, prefix: string): Promise<void> {
  await onServer(url, async (client) => {
    const { rows } = await client.query<{ datname: string }>(
      'SELECT datname FROM pg_database WHERE starts_with(datname, $1)',
      [prefix],
    );
    for (const { datname } of rows) await client.query(`DROP DATABASE ${datname} WITH (FORCE)`);
  });
}
