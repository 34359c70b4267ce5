import { type Logger as PinoLogger, pino } from 'pino';

export type Logger = PinoLogger;

declare module 'sonic-boom' {
  interface SonicBoom {
    /** With `contentMode: 'buffer'`; its own types know text alone. */
    write(bytes: Buffer): boolean;
  }
}

/** Lines are written once this much has gathered, or this much time has passed. */
const WRITE_BYTES = 32_768;
const FLUSH_EVERY_MS = 100;
/** The most that waits for a slow reader or a full disk; lines beyond that are dropped, and counted. */
const WAITING_BYTES_MAX = 16 * 1024 * 1024;
/** How long a process that ends waits for the reader of its log. */
const LAST_FLUSH_MS = 1_000;

/** How deep the causes of an error are followed. */
const CAUSES_MAX = 4;

export interface LogOutput {
  /** Default: 1, stdout. */
  readonly fd?: number;
  readonly waitingBytesMax?: number;
}

/**
 * JSON lines on stdout. Lines are handed to the stream in batches: a line a callback, written one
 * by one, cost more than signing the call. Nothing waits for a log that cannot be written, and
 * `log.lines_lost` tells later how many lines are missing. A process ends by `endLogged`.
 *
 * @param level a pino level (`LOG_LEVEL`)
 * @param base on every line; several processes that share an output tell themselves apart by it
 * @throws Error when pino does not know the level
 */
export function createLogger(
  level: string,
  base: { readonly pid: number } | null = null,
  { fd = 1, waitingBytesMax = WAITING_BYTES_MAX }: LogOutput = {},
): Logger {
  const output = pino.destination({
    dest: fd,
    sync: false,
    // Text that waits would be measured anew, all of it, with every line: that cost more than signing the call.
    contentMode: 'buffer',
    minLength: WRITE_BYTES,
    maxWrite: 2 * WRITE_BYTES,
    maxLength: waitingBytesMax,
    periodicFlush: FLUSH_EVERY_MS,
  });
  // At the exit it would try again for ever where nobody reads any more: such a process never ended.
  output.flushSync = () => undefined;
  const lines = {
    write: (line: string) => output.write(Buffer.from(line)),
    // Once for what is just being written, after which less than a piece may be left, and once for that.
    flush: (done: (error?: Error) => void) => output.flush(() => output.flush(done)),
  };
  const logger = pino(
    {
      level,
      base,
      timestamp: isoTimes(),
      messageKey: 'msg',
      serializers: { err: errorFacts },
    },
    lines,
  );
  let lost = 0;
  output.on('drop', () => {
    lost += 1;
  });
  // What could not be written is tried again with the next lines, as long as there is room for it.
  output.on('error', () => undefined);
  output.on('drain', () => {
    if (lost === 0) return;
    logger.warn({ lines: lost }, 'log.lines_lost');
    lost = 0;
  });
  return logger;
}

/** As pino's own `isoTime`, which makes a whole date for every line: here only the milliseconds are new. */
function isoTimes(): () => string {
  let second = Number.NaN;
  let text = '';
  return () => {
    const nowMs = Date.now();
    const milliseconds = nowMs % 1000;
    if (nowMs - milliseconds !== second) {
      second = nowMs - milliseconds;
      text = new Date(second).toISOString().slice(0, -'000Z'.length);
    }
    return `,"time":"${text}${String(milliseconds).padStart(3, '0')}Z"`;
  };
}

/** Ends this process once its log is written; after a second without that, all the same. */
export function endLogged(logger: Logger, code: number): void {
  // A write that hangs would hold up an orderly exit as well.
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), LAST_FLUSH_MS);
  logger.flush(() => process.exit(code));
}

interface ErrorFacts {
  readonly type: string;
  readonly message: string;
  readonly code?: string | number;
  readonly stack?: string;
  readonly cause?: ErrorFacts;
}

/**
 * What a log line holds of an error: its messages, never its other members. Those of database and Redis
 * clients carry the values of the failed command, among them tokens.
 */
export function errorFacts(error: unknown, depth = 0): ErrorFacts {
  if (!(error instanceof Error)) {
    return { type: typeof error, message: typeof error === 'string' ? error : typeof error };
  }
  const code = 'code' in error ? error.code : undefined;
  return {
    type: error.name,
    message: wordsOf(error),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(error.stack === undefined ? {} : { stack: error.stack }),
    ...(error.cause !== undefined && depth < CAUSES_MAX
      ? { cause: errorFacts(error.cause, depth + 1) }
      : {}),
  };
}

/** Of several addresses that were tried, each has its own reason, and their sum has none. */
function wordsOf(error: Error): string {
  if (!(error instanceof AggregateError) || error.message !== '') return error.message;
  return error.errors.map((one: unknown) => (one instanceof Error ? one.message : one)).join('; ');
}

/**
 * Decides which of the many good profiles and balances are logged (`LOG_READS_SAMPLE`).
 * @param share 0 to 1
 */
export function sampler(share: number): () => boolean {
  if (share >= 1) return () => true;
  return () => Math.random() < share;
}
