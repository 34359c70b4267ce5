import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import type { Server } from 'node:net';

const RETRY_MS = 20;
const RETRIES_MAX = 100;

/**
 * Listens on 127.0.0.1, and waits for about 2 s if the port is taken by an outgoing connection.
 * @param port 0 for any free port @returns the port @throws the error of `listen`
 */
export async function listenOn(server: Server, port: number): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
      return portOf(server);
    } catch (error) {
      const taken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
      if (!taken || port === 0 || attempt >= RETRIES_MAX) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/** Stops accepting; resolves when the last connection is gone. */
export async function stopListening(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  await closed;
}

/** A simulated server, which can go away and come back on the same port with the same books. */
export abstract class SimulatedServer {
  protected abstract readonly server: HttpServer;
  #port = 0;

  get port(): number {
    return this.#port;
  }

  /** Simulates that the machine is gone: breaks open connections and refuses new ones. */
  async down(): Promise<void> {
    const stopped = stopListening(this.server);
    this.server.closeAllConnections();
    await stopped;
  }

  /** Listens again, with the same books. */
  async up(): Promise<void> {
    if (!this.server.listening) this.#port = await listenOn(this.server, this.#port);
  }

  async close(): Promise<void> {
    await this.down();
  }
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not a TCP server');
  return address.port;
}
