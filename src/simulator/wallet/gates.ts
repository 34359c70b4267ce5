import { matches, type Scope, type Subject } from './scope.ts';

/** Where a held call stands: before the wallet books it, or booked and about to be answered. */
export type GatePoint = 'before' | 'after';

export interface GateOptions {
  /** Only calls about this bet. */
  readonly transactionId?: string;
  /** Default `before`. */
  readonly point?: GatePoint;
}

/** A closed gate in the wallet: forces a race instead of hoping for it. */
export interface Gate {
  /** Resolves when the first call stands at the gate. */
  readonly arrived: Promise<void>;
  /** Resolves when `count` calls, all told, have come to the gate. */
  arrivedTimes(count: number): Promise<void>;
  /** How many calls stand at the gate now. */
  readonly held: number;
  /** Opens the gate for good: the held calls go on in their order, later ones do not stop. */
  release(): void;
}

interface Closed {
  readonly scope: Scope;
  readonly point: GatePoint;
  pass(): Promise<void>;
}

export class Gates {
  readonly #closed = new Set<Closed>();

  hold(scope: Scope, point: GatePoint): Gate {
    const held: (() => void)[] = [];
    const expected: { count: number; resolve: () => void }[] = [];
    let came = 0;
    const closed: Closed = {
      scope,
      point,
      pass: () =>
        new Promise<void>((resolve) => {
          held.push(resolve);
          came += 1;
          for (const wish of expected) if (wish.count <= came) wish.resolve();
        }),
    };
    this.#closed.add(closed);
    const arrivedTimes = (count: number) =>
      new Promise<void>((resolve) => {
        if (came >= count) resolve();
        else expected.push({ count, resolve });
      });
    return {
      arrived: arrivedTimes(1),
      arrivedTimes,
      get held() {
        return held.length;
      },
      release: () => {
        this.#closed.delete(closed);
        for (const go of held.splice(0)) go();
      },
    };
  }

  /** The way through all gates that hold this call, or `undefined`, without a turn lost, if none. */
  pass(subject: Subject, point: GatePoint): Promise<void> | undefined {
    for (const closed of this.#closed) {
      if (closed.point === point && matches(closed.scope, subject)) return closed.pass();
    }
    return undefined;
  }
}
