/** The person at the terminal wants it to end. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  /** 128 and the signal's number, as shells have it. */
  readonly exitCode: number;

  constructor(signalNumber: number) {
    super('interrupted');
    this.exitCode = 128 + signalNumber;
  }
}

const SIGNALS = { SIGINT: 2, SIGTERM: 15 } as const;

/**
 * Runs work that ends in order when Ctrl-C is pressed; pressed again, it ends at once.
 *
 * @param onInterrupt says so to the person, who sees nothing else happen at once
 * @param work learns of it by the signal, whose reason is the `Interrupted` that it should throw
 */
export async function untilInterrupted<T>(
  onInterrupt: () => void,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const handlers = Object.entries(SIGNALS).map(([name, number]) => {
    const handler = () => {
      const interrupted = new Interrupted(number);
      if (controller.signal.aborted) process.exit(interrupted.exitCode);
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
