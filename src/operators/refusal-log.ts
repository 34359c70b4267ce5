import type { FastifyRequest, onSendAsyncHookHandler } from 'fastify';
import type { Clock } from '../domain/clock.ts';
import { StrangerLog } from '../lib/stranger-log.ts';
import { loggedReason } from '../telemetry/logged-reason.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { OperatorGate } from './request.ts';

/** A bet or a statement that is not there is an answer, not a fault. */
const NOT_FOUND = 404;

/**
 * A line for what an operator is refused: who is called at night because its players do not get in sees
 * nothing of it otherwise. Of each caller a few a second, because a loop that is refused asks fast.
 */
export class RefusalLog {
  readonly #gate: Pick<OperatorGate, 'callerOf'>;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #lines = new Map<string, StrangerLog>();

  constructor(of: {
    readonly gate: Pick<OperatorGate, 'callerOf'>;
    readonly logger: Logger;
    readonly clock: Clock;
  }) {
    this.#gate = of.gate;
    this.#logger = of.logger;
    this.#clock = of.clock;
  }

  /** For the routes of operators; changes nothing of what is sent. */
  readonly onSend: onSendAsyncHookHandler = async (request, reply, payload) => {
    const { statusCode: status } = reply;
    if (status >= 400 && status !== NOT_FOUND) this.#note(request, status, payload);
    return payload;
  };

  #note(request: FastifyRequest, status: number, payload: unknown): void {
    const operator = this.#gate.callerOf(request);
    // All that nobody has signed together: no time may tell whether there is an operator of that `cid` (I8).
    const leftOut = this.#linesOf(status === 401 ? 'unknown' : operator).next();
    if (leftOut === undefined) return;
    const durationMs = Math.round(this.#clock.monotonicMs() - request.arrivedAtMs);
    const { url: path } = request.routeOptions;
    const facts = { operator, path, status, ...saidIn(payload), ip: request.ip };
    this.#logger.info({ ...facts, durationMs, leftOut }, 'operator.refused');
  }

  /** As many as there are operators: a caller is one of the configuration, or unknown. */
  #linesOf(operator: string): StrangerLog {
    const lines = this.#lines.get(operator) ?? new StrangerLog(this.#clock);
    this.#lines.set(operator, lines);
    return lines;
  }
}

/** The code and the words of a refusal; they are the gateway's own, and hold no value of the request. */
function saidIn(payload: unknown): { readonly code?: unknown; readonly reason?: string } {
  if (typeof payload !== 'string') return {};
  const { code, message }: { code?: unknown; message?: unknown } = JSON.parse(payload);
  return { code, reason: loggedReason(String(message)) };
}
