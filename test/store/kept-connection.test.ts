import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { Database } from '../../src/store/database.ts';
import { statement } from '../../src/store/sql/statement.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

/** The port of this end of the connection. */
const PORT = statement('port', {}, 'SELECT inet_client_port() AS port', (row) => row.int('port'));
/** A `keepalive` is the timer of a socket in `/proc/net/tcp`, in hundredths of a second. */
const WAITS = / 02:([0-9A-F]{8}) /;

let server: TestDatabase;
beforeAll(async () => {
  server = await createDatabase();
});
afterAll(() => server.drop());

it.runIf(process.platform === 'linux')(
  'a connection that is kept is asked every half minute whether it is there: no firewall forgets it',
  async () => {
    const { url } = server;
    const database = new Database({ url, connectionsMax: 2, onIdleError: () => undefined });
    onTestFinished(() => database.close());
    const [port = 0] = await database.run(PORT, {});
    // With both ends: another socket may have the same local port towards another server.
    const ends = [port, Number(new URL(url).port)].map((one) => `0100007F:${hex4(one)} `);
    const waits = async () => {
      const sockets = (await readFile('/proc/net/tcp', 'utf8')).split('\n');
      const [, at = 'FFFFFFFF'] =
        WAITS.exec(sockets.find((one) => one.includes(ends.join(''))) ?? '') ?? [];
      return Number.parseInt(at, 16) / 100;
    };
    // Until the answer is acknowledged, the socket has another timer.
    await expect.poll(waits).toBeLessThanOrEqual(30);
  },
);

const hex4 = (port: number) => port.toString(16).toUpperCase().padStart(4, '0');
