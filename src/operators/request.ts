import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Configuration, OperatorConfig } from '../config/schema/schema.ts';
import type { Clock } from '../domain/clock.ts';
import { CODES } from '../domain/codes.ts';
import { type Answer, failure } from '../protocol/answers.ts';
import { type JsonDocument, JsonError, jsonObjectOrError, textFinder } from '../protocol/json.ts';
import { verify } from '../protocol/signature.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { Callers, type KnownCaller } from './callers.ts';
import { type NonceMemory, refuseOutdated, refuseStale } from './freshness.ts';
import { type LimitedAnswer, OperatorLimits } from './limits.ts';

/** The largest body of an operator's request, except those that carry lists. */
export const BODY_BYTES_MAX = 16 * 1024;

/** An operator's key has at most 255 characters, each of six bytes when escaped. */
const CID_BYTES_MAX = 255 * 6;
const cidIn = textFinder('cid', CID_BYTES_MAX);

/** A body counts as one request per this many bytes, because reading it costs that much. */
const BYTES_PER_REQUEST = 4 * 1024;

/** An operator's request whose signature is valid. */
export interface OperatorRequest {
  readonly operator: OperatorConfig;
  readonly document: JsonDocument;
}

export interface OperatorGateOptions {
  readonly configuration: () => Configuration;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly nonces: NonceMemory;
  /** Makes the function that tells whether an address is in one of the CIDRs. */
  readonly addressMatcher: (cidrs: readonly string[]) => (address: string) => boolean;
}

/**
 * Which operator asks: `cid` names it, `x-sign-jws` over the raw bytes proves it. An unknown `cid` and a wrong
 * signature get the same answer in the same time (I8). Until then one scan finds `cid` (I11).
 */
export class OperatorGate {
  readonly limits: OperatorLimits;
  readonly #options: OperatorGateOptions;
  readonly #callers: Callers;
  readonly #seen = new WeakMap<FastifyRequest, string>();

  constructor(options: OperatorGateOptions) {
    this.#options = options;
    this.#callers = new Callers(options.configuration, options.addressMatcher);
    this.limits = new OperatorLimits(options.metrics, options.clock);
  }

  /** @returns the request, or the refusal for `sendAnswer` @throws GatewayError when a nonce cannot be checked */
  async admit(request: FastifyRequest): Promise<OperatorRequest | Answer | LimitedAnswer> {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    // A body without a signature is not searched.
    if (request.headers['x-sign-jws'] === undefined) return this.#nobody('unknown');
    const cid = cidIn(body);
    if (cid === undefined) {
      return failure(CODES.validation, 'cid: must be a string in the JSON object that is the body');
    }
    const caller = this.#callers.find(cid);
    if (caller.operator !== undefined) this.#seen.set(request, caller.operator.id);
    const operator = this.#verified(request, body, caller);
    if (operator === undefined) return this.#nobody(caller.operator?.id ?? 'unknown');
    request.trust(operator.id);
    // Only now: to others, an operator with an address list must look like one that does not exist.
    if (!caller.isAllowed(request.ip)) {
      return failure(CODES.blocked, 'Source address not allowed', 403);
    }
    // After the signature: nobody else can use up an operator's limits.
    const weight = Math.max(1, Math.ceil(body.length / BYTES_PER_REQUEST));
    const { clock, nonces } = this.#options;
    const limited = this.limits.charge(operator, 'requests', weight);
    if (limited !== undefined) return limited;
    const outdated = refuseOutdated(clock, body);
    if (outdated !== undefined) {
      this.limits.giveBack(operator, 'requests', weight);
      return this.limits.charge(operator, 'outdated requests', weight) ?? outdated;
    }

    const document = documentOf(body);
    if (!('value' in document)) return document;
    // The `cid` that was verified must be the one acted on, however the parser reads the bytes.
    if (document.value.cid !== cid) return NOBODY;
    const path = request.routeOptions.url ?? '';
    const stale = await refuseStale(clock, nonces, { operator, document }, path);
    return stale ?? { operator, document };
  }

  /** The operator whose `cid` a request named, for logs, even with a wrong signature; else `unknown`. */
  callerOf(request: FastifyRequest): string {
    return this.#seen.get(request) ?? 'unknown';
  }

  #verified(
    request: FastifyRequest,
    body: Buffer,
    { operator, keys }: KnownCaller,
  ): OperatorConfig | undefined {
    const verdict = verify(request.headers['x-sign-jws'], body, keys);
    return verdict.ok ? operator : undefined;
  }

  #nobody(caller: string): Answer {
    this.#options.metrics.signatureFailures.inc({ caller });
    return NOBODY;
  }
}

const NOBODY = failure(CODES.badSignature, 'Unknown cid or invalid signature', 401);

function documentOf(body: Buffer): JsonDocument | Answer {
  const document = jsonObjectOrError(body);
  if (!(document instanceof JsonError)) return document;
  const where = document.field === undefined ? '' : `${document.field}: `;
  return failure(CODES.validation, `${where}${document.message}`);
}

export function sendAnswer(reply: FastifyReply, answer: Answer | LimitedAnswer): void {
  if ('retryAfterSeconds' in answer) reply.header('retry-after', answer.retryAfterSeconds);
  reply
    .code(answer.status)
    .header('content-type', 'application/json; charset=utf-8')
    .send(answer.body);
}
