import type { FastifyRequest, onSendAsyncHookHandler } from 'fastify';
import type { Clock } from '../domain/clock.ts';
import { StrangerLog } from '../lib/stranger-log.ts';
import type { Logger } from '../telemetry/logger.ts';
import { loggedReason } from '../telemetry/logger.ts';
import type { OperatorGate } from './request.ts';

/** That a bet or a statement does not exist is an answer, not a fault. */
const NOT_FOUND = 404;

/** A line per refusal to an operator, at most a few a second per caller. */
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

  /** For the operators' routes; does not change the answer. */
  readonly onSend: onSendAsyncHookHandler = async (request, reply, payload) => {
    const { statusCode: status } = reply;
    if (status >= 400 && status !== NOT_FOUND) this.#note(request, status, payload);
    return payload;
  };

  #note(request: FastifyRequest, status: number, payload: unknown): void {
    const operator = this.#gate.callerOf(request);
    // All requests without a valid signature share a limit: timing must not reveal whether a `cid` exists (I8).
    const leftOut = this.#linesOf(status === 401 ? 'unknown' : operator).next();
    if (leftOut === undefined) return;
    const durationMs = Math.round(this.#clock.monotonicMs() - request.arrivedAtMs);
    const { url: path } = request.routeOptions;
    const facts = { operator, path, status, ...refusalFacts(payload), ip: request.ip };
    this.#logger.info({ ...facts, durationMs, leftOut }, 'operator.refused');
  }

  /** The map does not grow beyond the operators: a caller is a configured one, or `unknown`. */
  #linesOf(operator: string): StrangerLog {
    const lines = this.#lines.get(operator) ?? new StrangerLog(this.#clock);
    this.#lines.set(operator, lines);
    return lines;
  }
}

/** The code and the message of a refusal; both are the gateway's own and contain no value of the request. */
function refusalFacts(payload: unknown): { readonly code?: unknown; readonly reason?: string } {
  if (typeof payload !== 'string') return {};
  const { code, message }: { code?: unknown; message?: unknown } = JSON.parse(payload);
  return { code, reason: loggedReason(String(message)) };
}
