import type { Gate, GatePoint } from '../wallet/gates.ts';
import type { BonusMethod } from './methods.ts';

interface Closed {
  readonly method: BonusMethod | 'any';
  readonly point: GatePoint;
  pass(): Promise<void>;
}

/** Closed gates in the bonus API, by method: they force a race instead of hoping for it. */
export class BonusGates {
  readonly #closed = new Set<Closed>();

  hold(method: BonusMethod | 'any', point: GatePoint): Gate {
    const held: (() => void)[] = [];
    const expected: { count: number; resolve: () => void }[] = [];
    let came = 0;
    const pass = () =>
      new Promise<void>((resolve) => {
        held.push(resolve);
        came += 1;
        for (const wish of expected) if (wish.count <= came) wish.resolve();
      });
    const closed: Closed = { method, point, pass };
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

  /** The way through the first gate that holds this call; `undefined`: none does. */
  pass(method: BonusMethod, point: GatePoint): Promise<void> | undefined {
    for (const closed of this.#closed) {
      const fits = closed.method === 'any' || closed.method === method;
      if (fits && closed.point === point) return closed.pass();
    }
    return undefined;
  }
}
