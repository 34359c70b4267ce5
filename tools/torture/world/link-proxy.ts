import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { Link } from './link.ts';

/** Called for every chunk of a request that mentions a watched word, before it is passed on. */
export type Mention = (link: Link) => void;

/** A TCP proxy between one gateway process and PostgreSQL or Redis, which can watch and break connections. */
export class LinkProxy {
  readonly #target: { readonly host: string; readonly port: number };
  readonly #server: Server;
  readonly #links = new Set<Link>();
  readonly #watched = new Map<string, Mention>();
  #port = 0;
  #frozen = false;

  constructor(target: { readonly host: string; readonly port: number }) {
    this.#target = target;
    this.#server = createServer({ allowHalfOpen: true }, (near) => this.#accept(near));
  }

  get port(): number {
    return this.#port;
  }

  async up(): Promise<void> {
    if (this.#server.listening) return;
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (address !== null && typeof address === 'object') this.#port = address.port;
  }

  watch(word: string, mention: Mention): void {
    this.#watched.set(word, mention);
  }

  unwatch(word: string): void {
    this.#watched.delete(word);
  }

  /** Nothing passes in either direction, on old connections and new ones. */
  freeze(): void {
    this.#frozen = true;
    for (const link of this.#links) link.hold();
  }

  /** Breaks open connections. */
  reset(): void {
    for (const link of this.#links) link.break();
  }

  /** Breaks open connections and refuses new ones. */
  async cut(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.reset();
    await closed;
  }

  async heal(): Promise<void> {
    this.#frozen = false;
    for (const link of this.#links) link.release();
    await this.up();
  }

  /** Any open connection; undefined when there is none. */
  someLink(nth: number): Link | undefined {
    const links = [...this.#links];
    return links[nth % Math.max(1, links.length)];
  }

  #accept(near: Socket): void {
    const far = connect({ ...this.#target, allowHalfOpen: true });
    const link = new Link(near, far, (chunk) => this.#look(link, chunk));
    this.#links.add(link);
    near.once('close', () => this.#links.delete(link));
    if (this.#frozen) link.hold();
  }

  #look(link: Link, chunk: Buffer): void {
    for (const [word, mention] of this.#watched) {
      if (chunk.includes(word)) mention(link);
    }
  }
}
