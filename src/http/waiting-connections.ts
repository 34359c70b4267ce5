import { closeSync, openSync, readSync } from 'node:fs';
import type { Server } from 'node:net';

/** Linux's socket tables, one per version of IP. */
const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];
/** `sl local_address rem_address st tx_queue:rx_queue` of a listening socket; `rx_queue` is the number waiting. */
const LISTENING = /^ *\d+: [\dA-F]+:([\dA-F]{4}) [\dA-F]+:[\dA-F]{4} 0A [\dA-F]{8}:([\dA-F]{8}) /gm;
/** The line of any other socket. */
const CONNECTED = /^ *\d+: [\dA-F]+:[\dA-F]{4} [\dA-F]+:[\dA-F]{4} (?!0A)/m;
/** How much of a table one read returns at most. */
const PIECE_BYTES = 4_096;
/** More listening sockets than any machine has. */
const TABLE_BYTES_MAX = 1024 * 1024;

/**
 * Takes some tens of microseconds: listening sockets come first, and reading stops before the others, which may be
 * many thousands.
 * @returns how many connections wait to be accepted at the server's port; undefined if the system does not tell
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
    // Not Linux, no such version of IP, or no file descriptor left.
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
