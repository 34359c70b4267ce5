import { systemClock } from '../../src/domain/clock.ts';

/** Somebody at the terminal, or an orchestrator, wants the demo to end. */
export class Interrupted extends Error {
  readonly exitCode: number;

  constructor(signalNumber: number) {
    super('interrupted');
    this.exitCode = 128 + signalNumber;
  }
}

const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
const SIGPIPE = 13;

/**
 * npm passes Ctrl-C on to us although the terminal has already sent it: within this time it counts as the same one.
 */
const SAME_SIGNAL_MS = 500;

export interface Interruption {
  /** Aborted by the first signal, with an `Interrupted`. */
  readonly signal: AbortSignal;
  /** Rejects with the same, to be raced against. */
  readonly rejection: Promise<never>;
}

/** The first signal ends the demo in order, the next one at once: the servers clean up by themselves. */
export function interruption(): Interruption {
  const controller = new AbortController();
  const { promise: rejection, reject } = Promise.withResolvers<never>();
  // Nobody may be waiting for it yet.
  rejection.catch(() => undefined);
  const interrupt = (interrupted: Interrupted) => {
    controller.abort(interrupted);
    reject(interrupted);
  };
  let firstAtMs: number | undefined;
  for (const [name, number] of Object.entries(SIGNALS)) {
    process.on(name, () => {
      const interrupted = new Interrupted(number);
      const nowMs = systemClock.monotonicMs();
      firstAtMs ??= nowMs;
      if (nowMs - firstAtMs > SAME_SIGNAL_MS) process.exit(interrupted.exitCode);
      interrupt(interrupted);
    });
  }
  // The reader of our output is gone, as with `| head`: nobody is left to play for.
  process.stdout.on('error', () => interrupt(new Interrupted(SIGPIPE)));
  return { signal: controller.signal, rejection };
}
