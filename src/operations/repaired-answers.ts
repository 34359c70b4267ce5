import type { Clock } from '../domain/clock.ts';
import type { RepairedField } from '../domain/read-repairs.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';

const LOGGED_EVERY_MS = 60_000;

/** One operator's repairs since its last log line. */
interface Unlogged {
  readonly fields: Set<RepairedField>;
  answers: number;
  loggedAtMs: number;
}

/** Counts repaired profiles and balances, and logs them once a minute for each operator. */
export class RepairedAnswers {
  readonly #parts: { readonly clock: Clock; readonly logger: Logger; readonly metrics: Metrics };
  readonly #unlogged = new Map<string, Unlogged>();

  constructor(parts: { clock: Clock; logger: Logger; metrics: Metrics }) {
    this.#parts = parts;
  }

  /** @param fields the repaired members of this answer; none: it was correct */
  note(operator: string, fields: readonly RepairedField[]): void {
    if (fields.length === 0) return;
    const { clock, logger, metrics } = this.#parts;
    const nowMs = clock.monotonicMs();
    const unlogged = this.#of(operator);
    unlogged.answers += 1;
    for (const field of fields) {
      metrics.repairedAnswers.inc({ operator, field });
      unlogged.fields.add(field);
    }
    if (nowMs - unlogged.loggedAtMs < LOGGED_EVERY_MS) return;
    const { answers } = unlogged;
    logger.warn({ operator, fields: [...unlogged.fields], answers }, 'wallet.answer_repaired');
    this.#unlogged.set(operator, { fields: new Set(), answers: 0, loggedAtMs: nowMs });
  }

  #of(operator: string): Unlogged {
    const known = this.#unlogged.get(operator);
    if (known !== undefined) return known;
    const unlogged = { fields: new Set<RepairedField>(), answers: 0, loggedAtMs: -Infinity };
    this.#unlogged.set(operator, unlogged);
    return unlogged;
  }
}
