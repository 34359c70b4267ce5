import { type House, openHouse } from '../house/house.ts';
import type { Servers } from '../house/servers.ts';
import type { Layout, Plan } from '../plan/plan.ts';
import { play } from '../play/play.ts';
import type { Verdict } from '../play/verdict.ts';

/** Plays one history after another, in a house of the layout that each asks for. */
export class Lane {
  readonly #servers: Servers;
  readonly #source: string;
  readonly #houses = new Map<Layout, House>();

  constructor(servers: Servers, source: string) {
    this.#servers = servers;
    this.#source = source;
  }

  /** @throws Error when a house cannot be opened, or the harness itself fails */
  async play(plan: Plan): Promise<Verdict> {
    const house = this.#houses.get(plan.layout) ?? (await this.#open(plan.layout));
    try {
      const verdict = await play(plan, house);
      // What a failure leaves behind must not be found again by the histories that follow.
      if (verdict.findings.length > 0) await this.leave(plan.layout);
      return verdict;
    } catch (error) {
      await this.leave(plan.layout);
      throw error;
    }
  }

  /** The house as it stands, for looking closer at what was found; undefined once it was left. */
  house(layout: Layout): House | undefined {
    return this.#houses.get(layout);
  }

  async leave(layout: Layout): Promise<void> {
    const house = this.#houses.get(layout);
    this.#houses.delete(layout);
    await house?.close();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#houses.keys()].map((layout) => this.leave(layout)));
  }

  async #open(layout: Layout): Promise<House> {
    const house = await openHouse(this.#servers, layout, this.#source);
    this.#houses.set(layout, house);
    return house;
  }
}

/** Which of the lanes plays a seed: always one that has the seed's layout. */
export function laneOf(seed: number, jobs: number): number {
  return seed % jobs;
}
