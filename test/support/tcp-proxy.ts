import { connect, createServer, type Server, type Socket } from 'node:net';
import { listenOn, stopListening } from '../../tools/simulator/wallet/listener.ts';

export interface TcpProxy {
  /** On 127.0.0.1; it stays the same for the life of the proxy. */
  readonly port: number;
  /** Open connections from the near side. */
  readonly connections: number;
  /** An address of the far side, by way of this proxy. */
  through(address: string): string;
  /** Simulates that the far side is gone: open connections are reset, new ones refused. */
  cut(): Promise<void>;
  /** New connections are refused, and the open ones go on: a load balancer that has no server for further ones. */
  refuse(): void;
  /** New connections are accepted and closed at once, and the open ones go on. */
  breakNew(): void;
  /** Simulates that the far side hangs: connections are accepted, but nothing is read or passed on. */
  freeze(): void;
  /** Breaks open connections with everything under way in them; new ones are accepted. */
  reset(): void;
  /** Open connections hang, as if the other machine had lost its power; new ones are accepted. */
  strand(): void;
  /** Ends a cut or a freeze; what a freeze held back is passed on. */
  restore(): Promise<void>;
  /**
   * Holds a single connection: the next one whose request contains all these words, before a byte of it reaches the
   * far side.
   */
  holdRequest(...words: readonly string[]): Held;
  /** The same, but the request reaches the far side and takes effect: only its answer is held back. */
  holdAnswer(...words: readonly string[]): Held;
  close(): Promise<void>;
}

/** One connection that is held in the middle of a conversation. */
export interface Held {
  /** Resolves when a connection is held. */
  readonly stopped: Promise<void>;
  /**
   * Resolves when the far side has answered: for a request after its release, for an answer although it is held.
   */
  readonly answered: Promise<void>;
  /** Passes on what was held back. */
  release(): void;
  /** Breaks the connection, and what was held back is lost. */
  swallow(): void;
}

/**
 * A TCP proxy in front of a server that a test wants to lose, such as PostgreSQL or Redis.
 * @param target its host and port, or its address
 */
export async function startTcpProxy(target: Target | string): Promise<TcpProxy> {
  const proxy = new Forwarder(typeof target === 'string' ? targetOf(target) : target);
  await proxy.restore();
  return proxy;
}

interface Target {
  readonly host: string;
  readonly port: number;
}

function targetOf(address: string): Target {
  const { hostname: host, port } = new URL(address);
  return { host, port: Number(port) };
}

class Forwarder implements TcpProxy {
  readonly #target: Target;
  readonly #links = new Set<Link>();
  readonly #holds = new Set<Hold>();
  readonly #server: Server;
  #frozen = false;
  #port = 0;

  constructor(target: Target) {
    this.#target = target;
    // Half-open connections must survive through the proxy as they would without it.
    const options = { allowHalfOpen: true, pauseOnConnect: true };
    this.#server = createServer(options, (near) => this.#accept(near));
  }

  get port(): number {
    return this.#port;
  }

  get connections(): number {
    return this.#links.size;
  }

  through(address: string): string {
    const url = new URL(address);
    url.host = `127.0.0.1:${this.#port}`;
    return url.href;
  }

  async cut(): Promise<void> {
    const stopped = stopListening(this.#server);
    for (const link of this.#links) link.reset();
    await stopped;
  }

  refuse(): void {
    this.#server.close();
  }

  breakNew(): void {
    this.#server.prependListener('connection', (near) => near.destroy());
  }

  freeze(): void {
    this.#frozen = true;
    for (const link of this.#links) link.freeze();
  }

  reset(): void {
    this.#frozen = false;
    for (const link of this.#links) link.reset();
  }

  strand(): void {
    for (const link of this.#links) link.freeze();
  }

  async restore(): Promise<void> {
    this.#frozen = false;
    for (const link of this.#links) link.thaw();
    if (!this.#server.listening) this.#port = await listenOn(this.#server, this.#port);
  }

  holdRequest(...words: readonly string[]): Held {
    return this.#hold(new Hold('request', words));
  }

  holdAnswer(...words: readonly string[]): Held {
    return this.#hold(new Hold('answer', words));
  }

  async close(): Promise<void> {
    await this.cut();
  }

  #hold(hold: Hold): Held {
    this.#holds.add(hold);
    return hold;
  }

  /** The hold that these bytes trigger; each triggers only once. */
  #holdOf(chunk: Buffer): Hold | undefined {
    const hold = [...this.#holds].find(({ words }) => words.every((word) => chunk.includes(word)));
    if (hold !== undefined) this.#holds.delete(hold);
    return hold;
  }

  #accept(near: Socket): void {
    const link = new Link(
      near,
      this.#target,
      (chunk) => this.#holdOf(chunk),
      () => this.#links.delete(link),
    );
    this.#links.add(link);
    if (!this.#frozen) link.thaw();
  }
}

/** A hold that a test waits for and releases; the first chunk with all its words triggers it. */
class Hold implements Held {
  readonly what: 'request' | 'answer';
  readonly words: readonly string[];
  readonly #stopped = Promise.withResolvers<void>();
  readonly #answered = Promise.withResolvers<void>();
  #link: Link | undefined;

  constructor(what: 'request' | 'answer', words: readonly string[]) {
    this.what = what;
    this.words = words;
  }

  get stopped(): Promise<void> {
    return this.#stopped.promise;
  }

  get answered(): Promise<void> {
    return this.#answered.promise;
  }

  stop(link: Link): void {
    this.#link = link;
    this.#stopped.resolve();
  }

  answer(): void {
    this.#answered.resolve();
  }

  release(): void {
    this.#link?.letGo();
  }

  swallow(): void {
    this.#link?.reset();
  }
}

/** Two sockets that pass data to each other, unless they are frozen. */
class Link {
  readonly #near: Socket;
  readonly #target: { host: string; port: number };
  readonly #holdOf: (chunk: Buffer) => Hold | undefined;
  /** Bytes for the far or the near side that are held back. */
  readonly #heldBack = { request: [] as Buffer[], answer: [] as Buffer[] };
  #hold: Hold | undefined;
  #isHolding = false;
  #far: Socket | undefined;
  #frozen = true;

  constructor(
    near: Socket,
    target: { host: string; port: number },
    holdOf: (chunk: Buffer) => Hold | undefined,
    closed: () => void,
  ) {
    this.#near = near;
    this.#target = target;
    this.#holdOf = holdOf;
    near.setNoDelay(true);
    near.on('error', () => this.reset());
    near.on('close', () => {
      this.#far?.destroySoon();
      closed();
    });
  }

  freeze(): void {
    this.#frozen = true;
    this.#near.pause();
    this.#far?.pause();
  }

  thaw(): void {
    this.#frozen = false;
    // Connects only now if the link began during a freeze.
    this.#far ??= this.#connect();
    this.#near.resume();
    this.#far.resume();
  }

  /** Ends a hold and passes on what was held back. */
  letGo(): void {
    this.#isHolding = false;
    for (const chunk of this.#heldBack.request.splice(0)) this.#far?.write(chunk);
    for (const chunk of this.#heldBack.answer.splice(0)) this.#near.write(chunk);
  }

  reset(): void {
    this.#near.resetAndDestroy();
    this.#far?.resetAndDestroy();
  }

  #connect(): Socket {
    const far = connect({ ...this.#target, allowHalfOpen: true, noDelay: true });
    far.on('error', () => this.reset());
    far.on('close', () => this.#near.destroySoon());
    this.#pass(this.#near, far, 'request');
    this.#pass(far, this.#near, 'answer');
    return far;
  }

  /** By hand instead of `pipe`, which resumes its source even if it is frozen. */
  #pass(from: Socket, to: Socket, what: 'request' | 'answer'): void {
    from.on('data', (chunk: Buffer) => {
      if (this.#keeps(chunk, what)) this.#heldBack[what].push(chunk);
      else if (!to.write(chunk)) from.pause();
    });
    to.on('drain', () => {
      if (!this.#frozen) from.resume();
    });
    from.on('end', () => to.end());
  }

  /** Whether these bytes are held back. */
  #keeps(chunk: Buffer, what: 'request' | 'answer'): boolean {
    if (what === 'request' && !this.#isHolding) {
      const hold = this.#holdOf(chunk);
      if (hold !== undefined) {
        this.#hold = hold;
        this.#isHolding = true;
        hold.stop(this);
      }
    }
    if (what === 'answer') this.#hold?.answer();
    return this.#isHolding && this.#hold?.what === what;
  }
}
