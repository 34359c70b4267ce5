import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openBriefConnection } from '../../../src/store/server/connection.ts';
import { startPostgres } from '../../../tools/embedded/postgres.ts';
import type { EmbeddedServer } from '../../../tools/embedded/server.ts';

let folder: string;
let server: EmbeddedServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'socket-'));
  // PostgreSQL may run as another user.
  await chmod(folder, 0o777);
  server = await startPostgres({ fast: true, settings: { unix_socket_directories: folder } });
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

it.each([
  ['a parameter, beside a host that stands for none', 'localhost', '?host=:folder'],
  ['the host, percent-encoded', ':folder', ''],
])("reaches PostgreSQL by a Unix socket's folder given as %s", async (_, host, search) => {
  const { username, password, port, pathname } = new URL(server.url);
  const spelt = (text: string) => text.replace(':folder', encodeURIComponent(folder));
  const url = `postgresql://${username}:${password}@${spelt(host)}:${port}${pathname}${spelt(search)}`;
  const client = await openBriefConnection(url, 'test');
  try {
    const { rows } = await client.query('SELECT inet_server_addr() AS address, 1 AS one');
    // Of a connection by TCP there is an address.
    expect(rows).toEqual([{ address: null, one: 1 }]);
  } finally {
    await client.end();
  }
});
