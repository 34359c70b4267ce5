import { type Deployment, openDeployment } from '../deployment/deployment.ts';
import type { Servers } from '../deployment/servers.ts';
import { LAYOUTS, type Layout, type Plan } from '../plan/plan.ts';
import { play } from '../play/play.ts';
import type { Verdict } from '../play/verdict.ts';

/** Plays one history after another, each in a deployment of its layout. */
export class Lane {
  readonly #servers: Servers;
  readonly #deployments = new Map<Layout, Deployment>();

  constructor(servers: Servers) {
    this.#servers = servers;
  }

  /** @throws Error when a deployment cannot be opened, or the harness itself fails */
  async play(plan: Plan): Promise<Verdict> {
    const deployment = this.#deployments.get(plan.layout) ?? (await this.#open(plan.layout));
    try {
      const verdict = await play(plan, deployment);
      // The next histories must not find what a failure has left behind.
      if (verdict.findings.length > 0) await this.#leave(plan.layout);
      return verdict;
    } catch (error) {
      await this.#leave(plan.layout);
      throw error;
    }
  }

  async #leave(layout: Layout): Promise<void> {
    const deployment = this.#deployments.get(layout);
    this.#deployments.delete(layout);
    await deployment?.close();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#deployments.keys()].map((layout) => this.#leave(layout)));
  }

  async #open(layout: Layout): Promise<Deployment> {
    const deployment = await openDeployment(this.#servers, layout);
    this.#deployments.set(layout, deployment);
    return deployment;
  }
}

/**
 * Deals seeds to lanes. Lanes of one layout share its seeds, so that one that waits for a lease holds up nobody.
 */
export class Dealer {
  readonly #last: number;
  readonly #lanes: number;
  readonly #next: number[];

  /**
   * @param jobs the number of lanes; those whose numbers are equal modulo the count of layouts share their seeds
   */
  constructor(first: number, count: number, jobs: number) {
    this.#last = first + count;
    this.#lanes = Math.min(jobs, LAYOUTS.length);
    this.#next = Array.from({ length: this.#lanes }, (_, lane) => {
      const behind = (lane - (first % this.#lanes) + this.#lanes) % this.#lanes;
      return first + behind;
    });
  }

  /** The remaining seeds for a lane, one at a time. */
  *seedsOf(lane: number): Generator<number, void> {
    const group = lane % this.#lanes;
    for (;;) {
      const seed = this.#next[group] ?? this.#last;
      if (seed >= this.#last) return;
      this.#next[group] = seed + this.#lanes;
      yield seed;
    }
  }
}
