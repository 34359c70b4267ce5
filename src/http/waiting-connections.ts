import { readFile } from 'node:fs/promises';
import type { Server } from 'node:net';

/** Of Linux, one for each version of IP. */
const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];
/** `sl local_address rem_address st tx_queue:rx_queue`, of a socket that listens; what waits is in `rx_queue`. */
const LISTENING = /^ *\d+: [\dA-F]+:([\dA-F]{4}) [\dA-F]+:[\dA-F]{4} 0A [\dA-F]{8}:([\dA-F]{8}) /gm;

/** @returns how many connections wait to be accepted at its port; undefined where the system does not tell */
export async function waitingAt(server: Server | undefined): Promise<number | undefined> {
  const address = server?.address();
  if (address === null || typeof address !== 'object') return undefined;
  const { port } = address;
  const tables = await Promise.all(TABLES.map(tableOf));
  const waiting = tables.flatMap((table) =>
    [...table.matchAll(LISTENING)]
      .filter(([, at = '']) => Number.parseInt(at, 16) === port)
      .map(([, , count = '']) => Number.parseInt(count, 16)),
  );
  return waiting.length === 0 ? undefined : waiting.reduce((sum, count) => sum + count);
}

async function tableOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'latin1');
  } catch {
    // Another system, one without this version of IP, or no file left to open: it does not tell.
    return '';
  }
}
