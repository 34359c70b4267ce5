import { systemClock } from '../../src/domain/clock.ts';

/** The person at the terminal, or an orchestrator, wants it to end. */
export class Interrupted extends Error {
  readonly exitCode: number;

  constructor(signalNumber: number) {
    super('interrupted');
    this.exitCode = 128 + signalNumber;
  }
}

const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
const SIGPIPE = 13;

/** npm passes Ctrl-C on to us although the terminal has already: within this it is the same one. */
const SAME_SIGNAL_MS = 500;

export interface Interruption {
  /** Aborted, with an `Interrupted`, by the first signal. */
  readonly signal: AbortSignal;
  /** Rejects with it, so that it can be raced against. */
  readonly rejection: Promise<never>;
}

/** The first signal ends the demo in order; another at once: the servers clean up by themselves. */
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
  // Whoever read what we print has gone, as `| head` does: there is nobody left to play for.
  process.stdout.on('error', () => interrupt(new Interrupted(SIGPIPE)));
  return { signal: controller.signal, rejection };
}
