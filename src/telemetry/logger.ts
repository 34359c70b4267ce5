import { type Logger as PinoLogger, pino } from 'pino';
import { systemClock } from '../domain/clock.ts';
import { GatewayError } from '../domain/errors.ts';
import { errorMessage } from '../lib/faults.ts';
import { TokenBuckets } from '../lib/token-bucket.ts';
import { OutOfTime } from '../lib/within.ts';

export type Logger = PinoLogger;

declare module 'sonic-boom' {
  interface SonicBoom {
    /** Allowed with `contentMode: 'buffer'`; the package's types only have text. */
    write(bytes: Buffer): boolean;
  }
}

/** Lines are written once this many bytes have accumulated, or this much time has passed. */
const WRITE_BYTES = 32_768;
const FLUSH_EVERY_MS = 100;
/** The most that is buffered for a slow reader or a full disk; lines beyond it are dropped and counted. */
const WAITING_BYTES_MAX = 16 * 1024 * 1024;
/** How long an exiting process waits for the reader of its log. */
const LAST_FLUSH_MS = 1_000;

/** How deep the causes of an error are followed. */
const CAUSES_MAX = 4;

/** How many failures of others, such as PostgreSQL's, are logged with a stack: while away each callback has one. */
const STACKS = { perSecond: 1, burst: 10 };

export interface LogOutput {
  /** Default: 1, stdout. */
  readonly fd?: number;
  readonly waitingBytesMax?: number;
}

/**
 * JSON lines on stdout, in batches: a write per line cost more than signing a call. Nothing waits for a log that
 * cannot be written; `log.lines_lost` says how many are missing. A process has to exit through `endLogged`.
 * @param level a pino level @param base added to every line @throws Error if pino does not know the level
 */
export function createLogger(
  level: string,
  base: { readonly pid: number } | null = null,
  { fd = 1, waitingBytesMax = WAITING_BYTES_MAX }: LogOutput = {},
): Logger {
  const output = pino.destination({
    dest: fd,
    sync: false,
    // With text, the whole buffer would be measured again for every line: that cost more than signing the call.
    contentMode: 'buffer',
    minLength: WRITE_BYTES,
    maxWrite: 2 * WRITE_BYTES,
    maxLength: waitingBytesMax,
    periodicFlush: FLUSH_EVERY_MS,
  });
  // At exit it would retry for ever if nobody reads the output any more: such a process never exited.
  output.flushSync = () => undefined;
  const lines = {
    write: (line: string) => output.write(Buffer.from(line)),
    // Twice: once for the write in progress, and once for what is left below `minLength` after it.
    flush: (done: (error?: Error) => void) => output.flush(() => output.flush(done)),
  };
  const logger = pino(
    {
      level,
      base,
      timestamp: pino.stdTimeFunctions.isoTime,
      messageKey: 'msg',
      serializers: { err: errorSerializer() },
    },
    lines,
  );
  let lost = 0;
  output.on('drop', () => {
    lost += 1;
  });
  // What could not be written is retried with the next lines, while the buffer has space.
  output.on('error', () => undefined);
  output.on('drain', () => {
    if (lost === 0) return;
    logger.warn({ lines: lost }, 'log.lines_lost');
    lost = 0;
  });
  return logger;
}

/** Exits this process once its log is written, and after a second in any case. */
export function endLogged(logger: Logger, code: number): void {
  // SIGKILL, because a hanging write would block `process.exit` as well.
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

/** A bug always says where it is. */
function errorSerializer(): (error: unknown) => ErrorFacts {
  const stacks = new TokenBuckets(systemClock, STACKS);
  return (error) => {
    const isOurs = !(error instanceof GatewayError || error instanceof OutOfTime);
    return errorFacts(error, { hasStacks: isOurs || stacks.take('failures') === 0 });
  };
}

/** The part of an error that is logged: its other members may contain tokens. */
export function errorFacts(
  error: unknown,
  { hasStacks = true, depth = 0 }: { readonly hasStacks?: boolean; readonly depth?: number } = {},
): ErrorFacts {
  if (!(error instanceof Error)) {
    return { type: typeof error, message: typeof error === 'string' ? error : typeof error };
  }
  const code = 'code' in error ? error.code : undefined;
  return {
    type: error.name,
    message: errorMessage(error),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(!hasStacks || error.stack === undefined ? {} : { stack: error.stack }),
    ...(error.cause !== undefined && depth < CAUSES_MAX
      ? { cause: errorFacts(error.cause, { hasStacks, depth: depth + 1 }) }
      : {}),
  };
}

const REASON_CHARS_MAX = 200;

/** A refusal's message, cut for the `reason` of a log line: it names a member, which may be as long as the body. */
export function loggedReason(message: string): string {
  return message.slice(0, REASON_CHARS_MAX);
}

/** Which successful profile and balance calls are logged (`LOG_READS_SAMPLE`). @param share 0 to 1 */
export function sampler(share: number): () => boolean {
  if (share >= 1) return () => true;
  return () => Math.random() < share;
}
