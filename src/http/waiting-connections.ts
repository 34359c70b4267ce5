import { closeSync, openSync, readSync } from 'node:fs';
import type { Server } from 'node:net';

/** Of Linux, one for each version of IP. */
const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];
/** `sl local_address rem_address st tx_queue:rx_queue`, of a socket that listens; what waits is in `rx_queue`. */
const LISTENING = /^ *\d+: [\dA-F]+:([\dA-F]{4}) [\dA-F]+:[\dA-F]{4} 0A [\dA-F]{8}:([\dA-F]{8}) /gm;
/** Of any other. */
const CONNECTED = /^ *\d+: [\dA-F]+:[\dA-F]{4} [\dA-F]+:[\dA-F]{4} (?!0A)/m;
/** What one reading brings of such a table at most. */
const PIECE_BYTES = 4_096;
/** As many sockets that listen as no machine has. */
const TABLE_BYTES_MAX = 1024 * 1024;

/**
 * Takes some tens of microseconds: those that listen come first, and of the others, which may be many thousands,
 * nothing is read.
 * @returns how many connections wait to be accepted at its port; undefined where the system does not tell
 */
export function waitingAt(server: Server | undefined): number | undefined {
  const address = server?.address();
  if (address === null || typeof address !== 'object') return undefined;
  const { port } = address;
  const waiting = TABLES.map(listenersIn).flatMap((listeners) =>
    [...listeners.matchAll(LISTENING)]
      .filter(([, at = '']) => Number.parseInt(at, 16) === port)
      .map(([, , count = '']) => Number.parseInt(count, 16)),
  );
  return waiting.length === 0 ? undefined : waiting.reduce((sum, count) => sum + count);
}

function listenersIn(path: string): string {
  try {
    const table = openSync(path, 'r');
    try {
      return readListeners(table);
    } finally {
      closeSync(table);
    }
  } catch {
    // Another system, one without this version of IP, or no file left to open: it does not tell.
    return '';
  }
}

function readListeners(table: number): string {
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  let text = '';
  while (text.length < TABLE_BYTES_MAX && !CONNECTED.test(text)) {
    const bytes = readSync(table, piece);
    if (bytes === 0) break;
    text += piece.toString('latin1', 0, bytes);
  }
  return text;
}
