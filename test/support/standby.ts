import { cpSync } from 'node:fs';
import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chooseServerFolder, giveTo } from '../../tools/embedded/folder.ts';
import { type EmbeddedServer, startServer } from '../../tools/embedded/server.ts';
import { memoryFolder } from './memory-folder.ts';
import { rowsOf } from './server.ts';

export interface Standby extends EmbeddedServer {
  /** Whether it has everything that the primary has committed. */
  isLevel(): Promise<boolean>;
  /** Accepts writes from now on, as after a failover. */
  promote(): Promise<void>;
}

/**
 * Creates a standby with everything that the server has committed so far. The server is stopped for a moment and
 * started again.
 *
 * @param primary from `startPostgres`, not a `fast` one
 * @param isBehind later commits no longer reach it
 */
export async function startStandby(
  primary: EmbeddedServer,
  { isBehind }: { readonly isBehind: boolean },
): Promise<Standby> {
  const setting = async (text: string) => String((await rowsOf(primary.url, text))[0]?.setting);
  const data = await setting(`SELECT current_setting('data_directory') AS setting`);
  const programs = await setting(`SELECT setting FROM pg_config WHERE name = 'BINDIR'`);
  const connectionsMax = await setting(`SELECT current_setting('max_connections') AS setting`);
  const folder = await chooseServerFolder('standby', await memoryFolder());
  const copy = join(folder.path, 'data');
  const urlAt = (port: number) => {
    const url = new URL(primary.url);
    url.port = String(port);
    return url.href;
  };
  await primary.kill('SIGINT');
  const standby = await startServer({
    name: 'the standby',
    folder,
    async prepare() {
      // Synchronous: with a promise per file it takes five times the processor time.
      cpSync(data, copy, { recursive: true });
      await rm(join(copy, 'postmaster.pid'), { force: true });
      await writeFile(join(copy, 'standby.signal'), '');
      if (folder.user !== undefined) await giveTo(folder.user, copy);
      await chmod(copy, 0o700);
    },
    command: (port) => ({
      file: join(programs, 'postgres'),
      args: [
        ...['-D', copy, '-c', `port=${port}`, '-c', `max_connections=${connectionsMax}`],
        ...['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
        ...(isBehind ? [] : ['-c', `primary_conninfo=${primary.url}`]),
      ],
      user: folder.user,
      stopSignal: 'SIGQUIT',
    }),
    url: urlAt,
    isReady: (port) =>
      rowsOf(urlAt(port), 'SELECT').then(
        () => true,
        () => false,
      ),
    restartSignal: 'SIGINT',
  });
  await primary.restart();
  return {
    ...standby,
    get pid() {
      return standby.pid;
    },
    isLevel: async () => {
      const at = await rowsOf(primary.url, 'SELECT pg_current_wal_flush_lsn() AS lsn');
      const text = `SELECT pg_last_wal_replay_lsn() >= '${at[0]?.lsn}' AS level`;
      return (await rowsOf(standby.url, text))[0]?.level === true;
    },
    promote: async () => void (await rowsOf(standby.url, 'SELECT pg_promote()')),
  };
}
