import { cpus } from 'node:os';
import { MEASURED_ON, REST_ON } from './processors.ts';

/** How busy processors were, in percent. */
export interface Busy {
  /** The processor that the measured side has to itself, if it has one. */
  readonly measured: number;
  /** The processor of everything else. */
  readonly rest: number;
}

/** @returns reports how busy they have been since */
export function watchBusy(): () => Busy {
  const before = cpus();
  return () => {
    const after = cpus();
    const percent = (at: number) => {
      const [from, to] = [before[at]?.times, after[at]?.times];
      if (from === undefined || to === undefined) return 0;
      const idle = to.idle - from.idle;
      const all = sum(to) - sum(from);
      return Math.round(100 * (1 - idle / all));
    };
    return { measured: percent(MEASURED_ON), rest: percent(REST_ON) };
  };
}

function sum(times: Readonly<Record<string, number>>): number {
  return Object.values(times).reduce((total, ms) => total + ms, 0);
}
