import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { listenOn, stopListening } from '../../tools/simulator/wallet/listener.ts';

/** What is asked later than this after everything else is asked has waited for an answer. */
const QUIET_MS = 40;

/** The requests of one round trip: which servers were asked, in the order of their names. */
export type RoundTrip = string;

/**
 * Lines to servers on which requests wait until nobody asks for more; then all of them are passed on at once. So the
 * round trips that come one after another can be counted, however fast the servers and however busy the machine.
 */
export class RoundTrips {
  readonly #servers: Server[] = [];
  /** Requests that are part of no callback, by a word in them. */
  readonly #ignored: readonly string[];
  #held: { readonly line: string; readonly pass: () => void }[] = [];
  #isCounting = false;
  #passed = 0;

  constructor(ignored: readonly string[]) {
    this.#ignored = ignored;
  }

  /** @returns the URL that leads to the same server through a line of this name */
  async through(name: string, url: string): Promise<string> {
    const near = new URL(url);
    const target = { host: near.hostname, port: Number(near.port) };
    const server = createServer({ noDelay: true }, (socket) => this.#accept(name, socket, target));
    this.#servers.push(server);
    near.hostname = '127.0.0.1';
    near.port = String(await listenOn(server, 0));
    return near.href;
  }

  /** The round trips of some work, in their order. */
  async of(work: () => Promise<unknown>): Promise<readonly RoundTrip[]> {
    const trips: RoundTrip[] = [];
    await this.#quiet();
    this.#isCounting = true;
    let isDone = false;
    const done = work().finally(() => {
      isDone = true;
    });
    while (!isDone) {
      const before = this.#held.length;
      await Promise.race([done, sleep(QUIET_MS)]);
      if (this.#held.length === 0 || this.#held.length > before) continue;
      trips.push([...new Set(this.#held.map(({ line }) => line))].sort().join(' and '));
      this.#pass();
    }
    this.#isCounting = false;
    this.#pass();
    await done;
    return trips;
  }

  async close(): Promise<void> {
    await Promise.all(this.#servers.map(stopListening));
  }

  /** Resolves when nothing is asked any more, such as what is remembered after an answer. */
  async #quiet(): Promise<void> {
    for (let before = -1; before !== this.#passed; ) {
      before = this.#passed;
      await sleep(QUIET_MS);
    }
  }

  #pass(): void {
    const held = this.#held;
    this.#held = [];
    for (const { pass } of held) pass();
  }

  #accept(line: string, near: Socket, target: { host: string; port: number }): void {
    const far = connect({ ...target, noDelay: true });
    far.pipe(near);
    near.on('data', (chunk: Buffer) => {
      const pass = () => far.write(chunk);
      const isIgnored = this.#ignored.some((word) => chunk.includes(word));
      if (!isIgnored) this.#passed += 1;
      if (isIgnored || !this.#isCounting) pass();
      else this.#held.push({ line, pass });
    });
    near.on('error', () => far.destroy());
    far.on('error', () => near.destroy());
    near.on('close', () => far.destroy());
  }
}
