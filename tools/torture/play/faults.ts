import { setTimeout as sleep } from 'node:timers/promises';
import type { Deployment, Process } from '../deployment/deployment.ts';
import type { ConnectionFault, Fault, FaultPlan, LinkFault } from '../plan/plan.ts';
import type { Story } from '../story.ts';
import type { Link } from '../world/link.ts';
import type { LinkProxy } from '../world/link-proxy.ts';

/** The process and connection that triggered a fault, for faults that hit just these. */
export interface Place {
  readonly process: number;
  readonly link: Link;
}

/** Causes a plan's faults, and undoes all of them. */
export class Faults {
  readonly #deployment: Deployment;
  readonly #story: Story;
  readonly #running = new Set<Promise<void>>();
  readonly #begun = new Set<string>();
  readonly #came = new Map<string, number>();

  constructor(deployment: Deployment, story: Story) {
    this.#deployment = deployment;
    this.#story = story;
  }

  /** How many faults of each kind have hit something. */
  get came(): ReadonlyMap<string, number> {
    return this.#came;
  }

  /** Whether a fault has come that leaves outcomes unknown, so that leases may have to run out. */
  get leavesLeases(): boolean {
    return this.#leavesLeases;
  }
  #leavesLeases = false;

  get haveCome(): boolean {
    return this.#begun.size > 0;
  }

  /** Begins a fault once, however often it is triggered. */
  begin(plan: FaultPlan, at?: Place): void {
    if (this.#begun.has(plan.id)) return;
    this.#begun.add(plan.id);
    this.#leavesLeases ||= ['postgres', 'connection', 'stop', 'kill'].includes(plan.fault.kind);
    this.#story.tell('fault', undefined, `${plan.id} begins: ${JSON.stringify(plan.fault)}`);
    // A connection fault counts only once it hits a message.
    if (plan.fault.kind !== 'connection') this.#count(nameOf(plan.fault));
    const running = this.#suffer(plan.fault, at).finally(() => {
      this.#running.delete(running);
      this.#story.tell('fault', undefined, `${plan.id} is over`);
    });
    this.#running.add(running);
    // `heal` reports the failure. A fault that failed halfway may have left something behind.
    running.catch((error: unknown) => {
      this.#story.tell('fault', undefined, `${plan.id} could not be played to its end: ${error}`);
    });
  }

  /** Resolves when all faults are over and everything is as at the beginning. */
  async heal(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
    for (const { postgres, redis, gateway } of this.#deployment.processes) {
      gateway.thaw();
      await postgres.heal();
      await redis.heal();
    }
  }

  async #suffer(fault: Fault, at: Place | undefined): Promise<void> {
    switch (fault.kind) {
      case 'postgres':
      case 'redis':
        return await sufferLink(this.#process(fault.process, at)[fault.kind], fault.how, fault.ms);
      case 'flushRedis':
        return await flush(this.#deployment);
      case 'connection':
        return await this.#sufferConnection(fault, at);
      case 'stop': {
        const { gateway } = this.#process(fault.process, at);
        gateway.freeze();
        await sleep(fault.ms);
        return gateway.thaw();
      }
      case 'kill':
        return await this.#kill(this.#process(fault.process, at), fault.downMs);
      case 'maintenance': {
        const { configuration } = this.#deployment;
        await configuration.setStatus(fault.operator, fault.kind);
        await sleep(fault.ms);
        return await configuration.setStatus(fault.operator, 'active');
      }
      case 'walletDown': {
        const wallet = this.#deployment.wallet(fault.operator);
        await wallet.down();
        await sleep(fault.ms);
        return await wallet.up();
      }
    }
  }

  #process(index: number, at: Place | undefined): Process {
    const { processes } = this.#deployment;
    const found = processes[(at?.process ?? index) % processes.length];
    if (found === undefined) throw new Error('a deployment has processes');
    return found;
  }

  async #sufferConnection(
    fault: { readonly process: number; readonly how: ConnectionFault; readonly ms: number },
    at: Place | undefined,
  ): Promise<void> {
    const link = at?.link ?? this.#process(fault.process, at).postgres.someLink(fault.ms);
    link?.suffer(fault.how, fault.ms, () => {
      this.#count(`connection ${fault.how}`);
      this.#story.tell('fault', undefined, `${fault.how} has hit a statement`);
    });
    await sleep(fault.ms);
  }

  #count(name: string): void {
    this.#came.set(name, (this.#came.get(name) ?? 0) + 1);
  }

  async #kill({ gateway }: Process, downMs: number): Promise<void> {
    await gateway.kill();
    await sleep(downMs);
    await gateway.start();
  }
}

function nameOf(fault: Fault): string {
  return 'how' in fault ? `${fault.kind} ${fault.how}` : fault.kind;
}

async function sufferLink(proxy: LinkProxy, how: LinkFault, ms: number): Promise<void> {
  if (how === 'reset') return proxy.reset();
  if (how === 'cut') await proxy.cut();
  else proxy.freeze();
  await sleep(ms);
  await proxy.heal();
}

async function flush(deployment: Deployment): Promise<void> {
  const { Redis } = await import('ioredis');
  const redis = new Redis(deployment.redis.url);
  try {
    await redis.flushall();
  } finally {
    redis.disconnect();
  }
}
