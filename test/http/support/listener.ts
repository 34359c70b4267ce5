import { pino } from 'pino';
import { systemClock } from '../../../src/domain/clock.ts';
import type { EventLoopLag } from '../../../src/http/arrival.ts';

/** A public listener's options behind a proxy on this machine. @param lines gets its log */
export function listenerOptions(lines: string[], lag: EventLoopLag) {
  return {
    clock: systemClock,
    logger: pino({ level: 'trace' }, { write: (line: string) => lines.push(line) }),
    lag,
    trustProxy: () => ['127.0.0.0/8'],
    maxConnections: () => 10,
    requestTimeoutMs: 4_500,
    silentMsMax: 4_500,
  };
}
