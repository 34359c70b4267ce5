import { createServer, connect as dial, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { listenOn, stopListening } from '../../tools/simulator/wallet/listener.ts';

/** In place of words: it lets the others in too, and has their first statement wait, as PgBouncer does for two minutes. */
export const WAITS = Symbol('waits');

/** AuthenticationOk and ReadyForQuery, idle. */
const LET_IN = Buffer.from('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I', 'latin1');

/**
 * A pooler that lets in as many clients as it is set to, and refuses others as PgBouncer does: with a SQLSTATE that says
 * nothing, and these words.
 *
 * @returns the database's address through it
 */
export async function startFullPooler(
  databaseUrl: string,
  clients: number,
  words: string | typeof WAITS,
): Promise<string> {
  const { hostname, port } = new URL(databaseUrl);
  const open = new Set<Socket>();
  const server = createServer((near) => {
    near.on('error', () => near.destroy());
    if (open.size >= clients) {
      near.once('data', () => {
        if (words === WAITS) near.write(LET_IN);
        else near.end(refusal(words));
      });
      return;
    }
    const far = dial(Number(port), hostname);
    open.add(near);
    near.on('close', () => open.delete(near) && far.destroy());
    far.on('error', () => far.destroy()).on('close', () => near.destroy());
    near.pipe(far);
    far.pipe(near);
  });
  const through = new URL(databaseUrl);
  through.port = String(await listenOn(server, 0));
  onTestFinished(async () => {
    for (const near of open) near.destroy();
    await stopListening(server);
  });
  return through.href;
}

/** An ErrorResponse (PostgreSQL's manual, Message Formats). */
function refusal(words: string): Buffer {
  const fields = Buffer.from(`SFATAL\0C08P01\0M${words}\0\0`, 'latin1');
  const head = Buffer.from('E\0\0\0\0', 'latin1');
  head.writeInt32BE(4 + fields.length, 1);
  return Buffer.concat([head, fields]);
}
