import type { Deployment, Replica } from '../../process/support/deployment.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';

/** Replicas of a gateway behind one address, which can be killed and replaced. */
export class Replicas {
  readonly #deployment: Deployment;
  readonly #env: Readonly<Record<string, string>>;
  readonly #up: Replica[] = [];
  #proxy: TcpProxy | undefined;
  #turn = 0;
  #kills = 0;

  constructor(deployment: Deployment, env: Readonly<Record<string, string>> = {}) {
    this.#deployment = deployment;
    this.#env = env;
  }

  get kills(): number {
    return this.#kills;
  }

  get up(): readonly Replica[] {
    return this.#up;
  }

  /** Starts `count` replicas and the address in front of them. @returns that address */
  async start(count: number): Promise<string> {
    for (let index = 0; index < count; index += 1) await this.add();
    const next = () => this.#nextPort();
    this.#proxy = await startTcpProxy({
      host: '127.0.0.1',
      // Read for every connection: the live replicas in turn.
      get port() {
        return next();
      },
    });
    return `http://127.0.0.1:${this.#proxy.port}`;
  }

  async add(): Promise<void> {
    this.#up.push(await this.#deployment.replica(this.#env));
  }

  /** Kills the oldest replica without a chance to clean up; nothing replaces it yet. */
  async killOldest(): Promise<void> {
    const victim = this.#up.shift();
    if (victim === undefined) throw new Error('no replica to kill');
    this.#kills += 1;
    await victim.process.kill();
  }

  /** Kills the oldest replica and starts another on a new port. */
  async replaceOldest(): Promise<void> {
    await this.killOldest();
    await this.add();
  }

  /** Kills all replicas before it starts new ones: for a while nobody is there. */
  async replaceAll(): Promise<void> {
    const count = this.#up.length;
    await Promise.all(Array.from({ length: count }, () => this.killOldest()));
    await Promise.all(Array.from({ length: count }, () => this.add()));
  }

  async close(): Promise<void> {
    await this.#proxy?.close();
    await Promise.all(this.#up.map(({ process }) => process.kill()));
  }

  /** If all are dead, a port without a listener: the connection is refused. */
  #nextPort(): number {
    this.#turn += 1;
    const replica = this.#up[this.#turn % Math.max(1, this.#up.length)];
    return replica === undefined ? 1 : Number(new URL(replica.baseUrl).port);
  }
}
