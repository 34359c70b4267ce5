import { type Logger as PinoLogger, pino } from 'pino';

export type Logger = PinoLogger;

/**
 * JSON lines on stdout. Lines are handed to the stream in batches: a line a callback, written one
 * by one, cost more than signing the call. `flush` before the process ends.
 *
 * @param level a pino level (`LOG_LEVEL`)
 * @throws Error when pino does not know the level
 */
export function createLogger(level: string): Logger {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, messageKey: 'msg' },
    pino.destination({ dest: 1, sync: false, minLength: 4096, periodicFlush: 100 }),
  );
}
