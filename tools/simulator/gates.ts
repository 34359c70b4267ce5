/** Where a call is held: before it is booked, or after that and before its answer. */
export type GatePoint = 'before' | 'after';

/** A closed gate: forces a race instead of hoping for it. */
export interface Gate {
  /** Resolves when the first call has reached the gate. */
  readonly arrived: Promise<void>;
  /** Resolves when `count` calls in all have reached the gate. */
  arrivedTimes(count: number): Promise<void>;
  /** How many calls are held at the gate now. */
  readonly held: number;
  /** Opens the gate for good: held calls go on in their order, later ones are not held. */
  release(): void;
}

interface Closed<Call> {
  readonly point: GatePoint;
  holds(call: Call): boolean;
  pass(): Promise<void>;
}

/** The closed gates of one simulated server, whose calls are described by `Call`. */
export class Gates<Call> {
  readonly #closed = new Set<Closed<Call>>();

  /** @param holds tells which calls the gate holds */
  hold(point: GatePoint, holds: (call: Call) => boolean): Gate {
    const held: (() => void)[] = [];
    const expected: { count: number; resolve: () => void }[] = [];
    let came = 0;
    const pass = () =>
      new Promise<void>((resolve) => {
        held.push(resolve);
        came += 1;
        for (const wish of expected) if (wish.count <= came) wish.resolve();
      });
    const closed: Closed<Call> = { point, holds, pass };
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

  /** Waits at the first gate that holds this call; `undefined` if none does, so that no tick is lost. */
  pass(call: Call, point: GatePoint): Promise<void> | undefined {
    for (const closed of this.#closed) {
      if (closed.point === point && closed.holds(call)) return closed.pass();
    }
    return undefined;
  }
}
