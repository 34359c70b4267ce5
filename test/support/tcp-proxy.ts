import { connect, createServer, type Server, type Socket } from 'node:net';
import { listenOn, stopListening } from '../../tools/simulator/wallet/listener.ts';

export interface TcpProxy {
  /** On 127.0.0.1; the same for as long as the proxy lives. */
  readonly port: number;
  /** Open connections from the near side. */
  readonly connections: number;
  /** The far side is gone: open connections are reset, new ones refused. */
  cut(): Promise<void>;
  /** The far side is stuck: connections are accepted, but nothing is read or passed on. */
  freeze(): void;
  /** Open connections break, with all that is on its way in them; new ones are taken. */
  reset(): void;
  /** Ends a cut or a freeze; what was held back in a freeze goes on. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

/** A TCP proxy before something that a test wants to lose, such as PostgreSQL or Redis. */
export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const proxy = new Forwarder(target);
  await proxy.restore();
  return proxy;
}

class Forwarder implements TcpProxy {
  readonly #target: { host: string; port: number };
  readonly #links = new Set<Link>();
  readonly #server: Server;
  #frozen = false;
  #port = 0;

  constructor(target: { host: string; port: number }) {
    this.#target = target;
    // Half-open connections must survive on the way to the other side, as without a proxy.
    const options = { allowHalfOpen: true, pauseOnConnect: true };
    this.#server = createServer(options, (near) => this.#accept(near));
  }

  get port(): number {
    return this.#port;
  }

  get connections(): number {
    return this.#links.size;
  }

  async cut(): Promise<void> {
    const stopped = stopListening(this.#server);
    for (const link of this.#links) link.reset();
    await stopped;
  }

  freeze(): void {
    this.#frozen = true;
    for (const link of this.#links) link.freeze();
  }

  reset(): void {
    this.#frozen = false;
    for (const link of this.#links) link.reset();
  }

  async restore(): Promise<void> {
    this.#frozen = false;
    for (const link of this.#links) link.thaw();
    if (!this.#server.listening) this.#port = await listenOn(this.#server, this.#port);
  }

  async close(): Promise<void> {
    await this.cut();
  }

  #accept(near: Socket): void {
    const link = new Link(near, this.#target, () => this.#links.delete(link));
    this.#links.add(link);
    if (!this.#frozen) link.thaw();
  }
}

/** Two sockets that pass on to one another; frozen until thawed. */
class Link {
  readonly #near: Socket;
  readonly #target: { host: string; port: number };
  #far: Socket | undefined;
  #frozen = true;

  constructor(near: Socket, target: { host: string; port: number }, closed: () => void) {
    this.#near = near;
    this.#target = target;
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
    // Connected only now: a link that began in a freeze had not reached the other side.
    this.#far ??= this.#connect();
    this.#near.resume();
    this.#far.resume();
  }

  reset(): void {
    this.#near.resetAndDestroy();
    this.#far?.resetAndDestroy();
  }

  #connect(): Socket {
    const far = connect({ ...this.#target, allowHalfOpen: true, noDelay: true });
    far.on('error', () => this.reset());
    far.on('close', () => this.#near.destroySoon());
    this.#pass(this.#near, far);
    this.#pass(far, this.#near);
    return far;
  }

  /** By hand instead of `pipe`, which resumes its source by itself, frozen or not. */
  #pass(from: Socket, to: Socket): void {
    from.on('data', (chunk) => {
      if (!to.write(chunk)) from.pause();
    });
    to.on('drain', () => {
      if (!this.#frozen) from.resume();
    });
    from.on('end', () => to.end());
  }
}
