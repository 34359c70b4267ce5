import { createServer, connect as dial, type Socket } from 'node:net';
import { listenOn, stopListening } from '../../tools/simulator/wallet/listener.ts';

/** What one connection sends up to the end of a statement. */
interface Unit {
  readonly from: Socket;
  readonly bytes: Buffer;
}

const READY = 'Z'.charCodeAt(0);
const SYNC = 'S'.charCodeAt(0);
const SIMPLE_QUERY = 'Q'.charCodeAt(0);
const AUTHENTICATION = 'R'.charCodeAt(0);
const PASSWORD = 'p'.charCodeAt(0);
const IDLE = 'I'.charCodeAt(0);

/**
 * A pooler in transaction mode with one session of PostgreSQL, which it gives to whichever connection has a
 * statement, and keeps as it was left. The first connection signs in, the others are let in as it was.
 *
 * @returns the database's address through it
 */
export async function startSharedSession(
  databaseUrl: string,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { port, hostname } = new URL(databaseUrl);
  const session = new SharedSession(() => dial(Number(port), hostname));
  const server = createServer((near) => session.accept(near));
  const through = new URL(databaseUrl);
  through.port = String(await listenOn(server, 0));
  return {
    url: through.href,
    close: async () => {
      session.close();
      await stopListening(server);
    },
  };
}

class SharedSession {
  readonly #dial: () => Socket;
  readonly #nears = new Set<Socket>();
  #far: Socket | undefined;
  /** What the server said to the first connection once it had signed in. */
  #welcome: Buffer[] = [];
  #isWelcome = false;
  #units: Unit[] = [];
  #underWay: Socket | undefined;
  /** The connection whose transaction is open. */
  #owner: Socket | undefined;

  constructor(dialServer: () => Socket) {
    this.#dial = dialServer;
  }

  accept(near: Socket): void {
    near.on('error', () => near.destroy());
    this.#nears.add(near);
    near.on('close', () => this.#nears.delete(near));
    let hasBegun = false;
    let unit: Buffer[] = [];
    onMessages(near, true, (message, type) => {
      if (!hasBegun) {
        hasBegun = true;
        this.#greet(near, message);
      } else if (type === PASSWORD && !this.#isWelcome) this.#far?.write(message);
      else {
        unit.push(message);
        if (type !== SYNC && type !== SIMPLE_QUERY) return;
        this.#units.push({ from: near, bytes: Buffer.concat(unit) });
        unit = [];
        this.#next();
      }
    });
  }

  #greet(near: Socket, startup: Buffer): void {
    if (this.#isWelcome) {
      near.write(Buffer.concat(this.#welcome));
      return;
    }
    const far = this.#dial();
    this.#far = far;
    this.#underWay = near;
    far.on('error', () => far.destroy());
    far.write(startup);
    onMessages(far, false, (message, type) => this.#answer(message, type));
  }

  #answer(message: Buffer, type: number): void {
    this.#underWay?.write(message);
    if (!this.#isWelcome) {
      // The last of them says that the password was right.
      if (type === AUTHENTICATION) this.#welcome = [];
      this.#welcome.push(message);
    }
    if (type !== READY) return;
    this.#isWelcome = true;
    this.#owner = message[5] === IDLE ? undefined : this.#underWay;
    this.#underWay = undefined;
    this.#next();
  }

  #next(): void {
    if (this.#underWay !== undefined) return;
    const at = this.#units.findIndex(({ from }) => from === (this.#owner ?? from));
    const [unit] = at < 0 ? [] : this.#units.splice(at, 1);
    if (unit === undefined) return;
    this.#underWay = unit.from;
    this.#far?.write(unit.bytes);
  }

  close(): void {
    for (const socket of this.#nears) socket.destroy();
    this.#far?.destroy();
  }
}

/** Splits a stream into PostgreSQL's messages; a connection's first one has no type (Message Formats). */
function onMessages(
  socket: Socket,
  beginsUntyped: boolean,
  handle: (message: Buffer, type: number) => void,
): void {
  let bytes = Buffer.alloc(0);
  let typeBytes = beginsUntyped ? 0 : 1;
  socket.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    while (bytes.length >= typeBytes + 4) {
      const length = typeBytes + bytes.readInt32BE(typeBytes);
      if (bytes.length < length) return;
      const message = bytes.subarray(0, length);
      bytes = bytes.subarray(length);
      typeBytes = 1;
      handle(message, message[0] ?? 0);
    }
  });
}
