import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { OperatorConfig } from '../config/schema/schema.ts';
import { CODES } from '../domain/codes.ts';
import { Deadline } from '../domain/deadline.ts';
import { GatewayError } from '../domain/errors.ts';
import { KeyedSemaphore } from '../lib/keyed-semaphore.ts';
import type { Work } from '../operators/limits.ts';
import { BODY_BYTES_MAX, type OperatorGate, sendAnswer } from '../operators/request.ts';
import { failure } from '../protocol/answers.ts';
import type { JsonDocument } from '../protocol/json.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { BonusCall, Bonuses } from './context.ts';
import { BONUS_METHODS, type BonusMethod } from './method-names.ts';
import { applyBatch } from './methods/apply-batch.ts';
import { createTemplate } from './methods/create-template.ts';
import { listTemplates } from './methods/list-templates.ts';
import { listPlayerBonuses } from './methods/player-bonuses.ts';
import { readBonus } from './methods/read-bonus.ts';
import { readTemplate } from './methods/read-template.ts';
import { revokeBatch } from './methods/revoke-batch.ts';
import type { BonusOutcome, BonusResult } from './outcome.ts';

type Story = (bonuses: Bonuses, call: BonusCall) => Promise<BonusResult>;

const STORIES: Readonly<Record<BonusMethod, Story>> = {
  templates: listTemplates,
  template: readTemplate,
  'templates/add': createTemplate,
  'player/bonuses': listPlayerBonuses,
  bonus: readBonus,
  'bonus/applyBatch': applyBatch,
  'bonus/revokeBatch': revokeBatch,
};

/** The outcomes of the gate's refusals, by status. */
const REFUSED_OUTCOMES: Readonly<Record<number, BonusOutcome>> = {
  401: 'unauthorized',
  403: 'forbidden',
  429: 'limited',
  503: 'unavailable',
};

const NO_DATABASE = failure(CODES.system, 'System error', 503);

/** For methods with lists of a thousand; the others only have a few numbers. */
const BODY_BYTES_MAX_OF_LISTS = 256 * 1024;
const CARRIES_LISTS: ReadonlySet<BonusMethod> = new Set([
  'templates/add',
  'bonus/applyBatch',
  'bonus/revokeBatch',
]);

/** The largest body of a method's request, in bytes. */
export function bodyBytesMax(method: BonusMethod): number {
  return CARRIES_LISTS.has(method) ? BODY_BYTES_MAX_OF_LISTS : BODY_BYTES_MAX;
}

/** Concurrent calls per operator that read pages of templates (I7). */
const PAGES_AT_ONCE = 4;

export interface BonusApi {
  readonly gate: OperatorGate;
  readonly bonuses: Bonuses;
  readonly metrics: Metrics;
  /** Decides which of the requests that are not admitted are logged. */
  readonly strangers: StrangersLogged;
}

interface StrangersLogged {
  /** @returns undefined if the request is not to be logged; otherwise how many were left out before it */
  next(): number | undefined;
}

/**
 * The service's bonus API; each operator sees it as if it were the only one (docs/reference.md, Operator API).
 */
export function bonusRoutes(app: FastifyInstance, api: BonusApi): void {
  const semaphore = new KeyedSemaphore(PAGES_AT_ONCE);
  for (const method of BONUS_METHODS) {
    app.post(`/bonuses/${method}`, { bodyLimit: bodyBytesMax(method) }, async (request, reply) => {
      const { result, operator: caller } = await serve(api, semaphore, method, request);
      const labels = { operator: caller ?? 'unknown', method };
      const seconds = (api.bonuses.clock.monotonicMs() - request.arrivedAtMs) / 1000;
      const outcomeLabel = result.denied === true ? 'denied' : result.outcome;
      api.metrics.bonusRequests.inc({ ...labels, outcome: outcomeLabel });
      // Callers that are not admitted can send any number of requests, which must not fill the log.
      const leftOut = caller === undefined ? api.strangers.next() : undefined;
      if (caller !== undefined || leftOut !== undefined) {
        const { answer, outcome, error } = result;
        // By its `cid`, as in `operator.refused`: who is called at night has to find the caller.
        const stranger =
          caller === undefined ? { operator: api.gate.callerOf(request), ip: request.ip } : {};
        const facts = { ...labels, ...stranger, outcome, status: answer.status, error, leftOut };
        const durationMs = Math.round(seconds * 1000);
        api.bonuses.logger.info({ ...facts, durationMs }, 'bonus.handled');
      }
      sendAnswer(reply, result.answer);
      return reply;
    });
  }
}

/** @returns the result, with the operator if it was admitted */
async function serve(
  api: BonusApi,
  semaphore: KeyedSemaphore,
  method: BonusMethod,
  request: FastifyRequest,
): Promise<{ readonly result: BonusResult; readonly operator: string | undefined }> {
  const admitted = await admit(api, request);
  if (!('operator' in admitted)) {
    return {
      result: { answer: admitted, outcome: REFUSED_OUTCOMES[admitted.status] ?? 'invalid' },
      operator: undefined,
    };
  }
  const { operator, document } = admitted;
  const call = callOf(api, semaphore, operator, document, request);
  const result =
    forbidden(operator) ?? call.charge('bytes', 1) ?? (await tell(api.bonuses, method, call));
  api.gate.limits.owe(operator, 'bytes', result.answer.body.length);
  return { result, operator: operator.id };
}

/** Answers 503 while PostgreSQL is down, because a nonce cannot be checked then. */
async function admit({ gate, bonuses }: BonusApi, request: FastifyRequest) {
  try {
    return await gate.admit(request);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    bonuses.logger.error({ err: error }, 'bonus.no_database');
    return NO_DATABASE;
  }
}

/** If PostgreSQL is down, that is an answer like any other, and counted. */
async function tell(bonuses: Bonuses, method: BonusMethod, call: BonusCall): Promise<BonusResult> {
  try {
    return await STORIES[method](bonuses, call);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    bonuses.logger.error({ err: error, operator: call.operator.id, method }, 'bonus.no_database');
    return { answer: NO_DATABASE, outcome: 'unavailable' };
  }
}

function forbidden({ status, bonuses }: OperatorConfig): BonusResult | undefined {
  const why =
    status === 'suspended'
      ? 'The operator is suspended'
      : bonuses.enabled
        ? undefined
        : 'The bonus API is not enabled for this operator';
  if (why === undefined) return undefined;
  return { answer: failure(CODES.blocked, why, 403), outcome: 'forbidden' };
}

function callOf(
  { gate: { limits }, bonuses: { clock, configuration, accounts } }: BonusApi,
  semaphore: KeyedSemaphore,
  operator: OperatorConfig,
  document: JsonDocument,
  { arrivedAtMs }: FastifyRequest,
): BonusCall {
  const account = accounts.of(operator);
  const { bonusTimeoutMs } = configuration().gateway.service;
  const charge = (work: Work, count: number): BonusResult | undefined => {
    const answer = limits.charge(operator, work, count);
    return answer && { answer, outcome: 'limited' };
  };
  return {
    operator,
    account,
    tenant: { operatorId: operator.id, upstreamCid: account.cid },
    document,
    deadline: new Deadline(clock, arrivedAtMs, bonusTimeoutMs, 0),
    charge,
    inTurn: async (read) => {
      const done = await semaphore.take(operator.id);
      try {
        // Checked in turn, because the bytes of earlier answers are only known by then.
        return charge('bytes', 1) ?? (await read());
      } finally {
        done();
      }
    },
  };
}
