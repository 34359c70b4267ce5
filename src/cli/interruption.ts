/** The person at the terminal wants the command to end. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  /** 128 plus the signal's number, as in shells. */
  readonly exitCode: number;

  constructor(signalNumber: number) {
    super('interrupted');
    this.exitCode = 128 + signalNumber;
  }
}

/** SIGHUP: the terminal is gone, as when a connection breaks. */
const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

/** A launcher passes on Ctrl-C although the terminal sent it to us too: within this it is the same one. */
const SAME_SIGNAL_MS = 500;

/**
 * Runs work that ends in order at Ctrl-C or a closed terminal; pressed again, it ends at once.
 * @param work gets the signal, whose reason is the `Interrupted` that it should throw
 */
export async function untilInterrupted<T>(
  onInterrupt: () => void,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  let firstAtMs: number | undefined;
  const handlers = Object.entries(SIGNALS).map(([name, number]) => {
    const handler = () => {
      const interrupted = new Interrupted(number);
      const nowMs = performance.now();
      if (firstAtMs !== undefined) {
        if (nowMs - firstAtMs > SAME_SIGNAL_MS) process.exit(interrupted.exitCode);
        return;
      }
      firstAtMs = nowMs;
      controller.abort(interrupted);
      onInterrupt();
    };
    process.on(name, handler);
    return { name, handler };
  });
  try {
    return await work(controller.signal);
  } finally {
    for (const { name, handler } of handlers) process.off(name, handler);
  }
}
