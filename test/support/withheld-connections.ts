import { connect, createServer, type Socket } from 'node:net';
import { listenOn, stopListening } from '../../tools/simulator/wallet/listener.ts';

/** How a server, or what stands before it, withholds a connection. */
export type Manner =
  | 'in silence'
  | 'by closing at once'
  | 'after a slow login'
  /** As PgBouncer does for two minutes: the login is well, and the first statement waits. */
  | 'after the login'
  | Refusal;

/** A FATAL error as the answer to the startup packet. */
export interface Refusal {
  readonly sqlState: string;
  readonly message: string;
}

/** AuthenticationOk and ReadyForQuery, idle. */
const LET_IN = Buffer.from('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I', 'latin1');
const SLOW_LOGIN_MS = 5_000;

export interface WithheldConnections {
  /** The database's address, by way of this proxy. */
  readonly url: string;
  /** Connections that were asked for beyond the given ones. */
  readonly withheld: number;
  close(): Promise<void>;
}

/** Passes on so many connections at a time to a PostgreSQL server, and withholds all further ones. */
export async function withholdBeyond(
  given: number,
  manner: Manner,
  databaseUrl: string,
): Promise<WithheldConnections> {
  const url = new URL(databaseUrl);
  const target = { host: url.hostname, port: Number(url.port) };
  const sockets = new Set<Socket>();
  let open = 0;
  let withheld = 0;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  };
  const pass = (near: Socket) => {
    const far = connect({ ...target, noDelay: true });
    keep(far);
    near.pipe(far).pipe(near);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  };
  const server = createServer({ noDelay: true }, (near) => {
    keep(near);
    if (open < given) {
      open += 1;
      near.on('close', () => {
        open -= 1;
      });
      pass(near);
      return;
    }
    withheld += 1;
    if (manner === 'by closing at once') near.destroy();
    else if (manner === 'after a slow login') {
      const timer = setTimeout(() => pass(near), SLOW_LOGIN_MS);
      near.on('close', () => clearTimeout(timer));
    } else if (manner === 'after the login') near.once('data', () => near.write(LET_IN));
    else if (manner !== 'in silence') near.once('data', () => near.end(fatal(manner)));
  });
  url.host = `127.0.0.1:${await listenOn(server, 0)}`;
  return {
    url: url.href,
    get withheld() {
      return withheld;
    },
    close: async () => {
      const stopped = stopListening(server);
      for (const socket of sockets) socket.destroy();
      await stopped;
    },
  };
}

/** An ErrorResponse of PostgreSQL's protocol. */
function fatal({ sqlState, message }: Refusal): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${sqlState}\0M${message}\0\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}
