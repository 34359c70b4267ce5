import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * What an await is: `read` and `write` at PostgreSQL, `wallet` a call or its end, `wait` for another operation of
 * the bet.
 */
export type StepKind = 'read' | 'write' | 'wallet' | 'wait';

/** One possible step: whose, which, and how it ends (`ok`, or a fault's name). */
export interface Move {
  readonly actor: string;
  readonly kind: StepKind;
  readonly label: string;
  readonly choice: string;
}

interface Step {
  readonly kind: StepKind;
  readonly label: string;
  /** How else it may end, as long as the run may have more faults. */
  readonly faults: readonly string[];
}

interface Pending extends Step {
  readonly actor: string;
  /** The number of writes by others when it began. */
  readonly seenWrites: number;
  readonly release: (choice: string) => Promise<void>;
}

const here = new AsyncLocalStorage<{ readonly gates: Gates; readonly actor: string }>();

/** An actor that reaches no gate in this time, on however busy a machine, never will. */
const STUCK_AFTER_MS = 20_000;
/** How many turns of the event loop must pass without anything reaching a gate. */
const CALM_TURNS = 2;
/** Statements that say to which wallet a bet belongs. */
const LOOKS = new Set(['bet-find', 'place-begin', 'delivery-claim']);
/** How long a timer continues the work after a lost answer. */
const AFTER_LOSS_MS = 4;

/**
 * Controls every await of a run's actors that leaves their process: each one stops until the schedule names it, so
 * an order of steps is data and can be played again.
 */
export class Gates {
  readonly #pending: Pending[] = [];
  readonly #running = new Set<string>();
  readonly #onKill: (actor: string) => void;
  #faultsLeft: number;
  #writes = 0;
  #steps = 0;
  readonly #lastLooks = new Map<string, { readonly label: string; readonly at: number }>();
  #activity = 0;
  #onActivity: () => void = () => undefined;
  #isOver = false;
  readonly #killed = new Set<string>();
  #hasLost = false;

  /**
   * @param faults how many steps of the run may end otherwise than `ok`
   * @param onKill called with the actor whose process is gone
   */
  constructor(faults: number, onKill: (actor: string) => void) {
    this.#faultsLeft = faults;
    this.#onKill = onKill;
  }

  /** Runs `work`; everything that it awaits through `pass` is a step of `actor`. */
  start(actor: string, work: () => Promise<void>): void {
    this.#running.add(actor);
    void here.run({ gates: this, actor }, async () => {
      await work();
      this.#running.delete(actor);
      this.#noteActivity();
    });
  }

  /** Every possible next move. An actor that waits in vain gives up when nobody else can move. */
  get moves(): readonly Move[] {
    const inOrder = [...this.#pending].sort((one, other) => (one.actor < other.actor ? -1 : 1));
    const moves = inOrder.flatMap((pending) =>
      this.#choices(pending).map((choice) => moveOf(pending, choice)),
    );
    return moves.length > 0 ? moves : inOrder.map((pending) => moveOf(pending, 'giveUp'));
  }

  /** Lets one actor go on, and resolves when all have stopped again. */
  async take({ actor, label, choice }: Move): Promise<void> {
    const pending = this.#pending.find((one) => one.actor === actor && one.label === label);
    if (pending === undefined) throw new Error(`${actor} does not stand at ${label}`);
    if (choice !== 'ok' && choice !== 'giveUp') this.#faultsLeft -= 1;
    else if (choice === 'giveUp' && this.#faultsLeft > 0) this.#faultsLeft -= 1;
    if (choice === 'kill') {
      this.#running.delete(actor);
      this.#killed.add(actor);
      for (const gone of this.#pending.filter((one) => one.actor === actor)) this.#leave(gone);
      this.#onKill(actor);
      return;
    }
    if (choice === 'lostAnswer') this.#hasLost = true;
    this.#leave(pending);
    await pending.release(choice);
    await this.settled();
  }

  /** Ends the run: actors that have not finished never will, as if their process were gone. */
  close(): void {
    this.#isOver = true;
    this.#pending.length = 0;
  }

  /** Resolves when every actor has stopped at a gate or finished. */
  async settled(): Promise<void> {
    if (this.#hasLost) await sleep(AFTER_LOSS_MS);
    for (let calm = 0; calm < CALM_TURNS; ) {
      const before = this.#activity;
      if (!this.#areAllAtGates) await this.#nextActivity();
      await new Promise(setImmediate);
      calm = this.#areAllAtGates && this.#activity === before ? calm + 1 : 0;
    }
  }

  get #areAllAtGates(): boolean {
    const atGates = new Set(this.#pending.map(({ actor }) => actor));
    return [...this.#running].every((actor) => atGates.has(actor));
  }

  async #nextActivity(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#onActivity = resolve;
    const stuck = () => reject(new Error(`${[...this.#running]} never came to a gate`));
    const timer = setTimeout(stuck, STUCK_AFTER_MS);
    await promise;
    clearTimeout(timer);
  }

  #noteActivity(): void {
    this.#activity += 1;
    this.#onActivity();
  }

  #choices(pending: Pending): readonly string[] {
    const faults = this.#faultsLeft > 0 ? pending.faults : [];
    // A waiting actor looks again only after a write: nothing else could have changed.
    const isStuck = pending.kind === 'wait' && this.#writes === pending.seenWrites;
    return isStuck ? faults : ['ok', ...faults];
  }

  #leave(pending: Pending): void {
    this.#pending.splice(this.#pending.indexOf(pending), 1);
  }

  async #stand<T>(actor: string, step: Step, act: (choice: string) => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const release = async (choice: string) => {
      try {
        resolve(await act(choice));
      } catch (error) {
        reject(error);
      }
      if (step.kind === 'write') this.#writes += 1;
      this.#steps += 1;
      // One that is repeated after its answer was lost has written before, if at all.
      const isRepeat =
        this.#lastLooks.get(actor)?.label === step.label && step.label === 'place-begin';
      if (LOOKS.has(step.label) && !isRepeat) {
        this.#lastLooks.set(actor, { label: step.label, at: this.#steps });
      }
      this.#noteActivity();
    };
    this.#pending.push({ ...step, actor, seenWrites: this.#writes, release });
    this.#noteActivity();
    return await promise;
  }

  /**
   * Runs an action as a step of the calling actor; without a run, or after it, at once.
   * @param act called with how the step ends
   */
  static async pass<T>(step: Step, act: (choice: string) => Promise<T>): Promise<T> {
    const at = here.getStore();
    if (at === undefined) return await act(step.kind === 'wait' ? 'giveUp' : 'ok');
    const { gates, actor } = at;
    // After a process is gone, nothing that it awaited ever comes.
    if (gates.#isOver || gates.#killed.has(actor)) return await new Promise<never>(() => undefined);
    return await gates.#stand(actor, step, act);
  }

  /** The number of steps so far; and when the current actor last read whose the bet is. Undefined outside a run. */
  static get steps(): { readonly taken: number; readonly looked: number } | undefined {
    const at = here.getStore();
    if (at === undefined || at.gates.#isOver) return undefined;
    const { gates, actor } = at;
    return { taken: gates.#steps, looked: gates.#lastLooks.get(actor)?.at ?? 0 };
  }

  /** The actor of the current step; undefined outside a run. */
  static get actor(): string | undefined {
    return here.getStore()?.actor;
  }
}

function moveOf({ actor, kind, label }: Pending, choice: string): Move {
  return { actor, kind, label, choice };
}
