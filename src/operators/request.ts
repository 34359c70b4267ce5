import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { Configuration, OperatorConfig } from '../config/schema.ts';
import type { Clock } from '../domain/clock.ts';
import { CODES } from '../domain/codes.ts';
import { TokenBuckets } from '../lib/token-bucket.ts';
import { type Answer, failure } from '../protocol/answers.ts';
import { type JsonDocument, JsonError, parseJsonObject } from '../protocol/json.ts';
import { type SigningKey, signingKeys, verify } from '../protocol/signature.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** A request of an operator whose signature holds. */
export interface OperatorRequest {
  readonly operator: OperatorConfig;
  readonly document: JsonDocument;
}

/** Come back later: an answer with the seconds for `Retry-After`. */
export interface LimitedAnswer extends Answer {
  readonly retryAfterSeconds: number;
}

/**
 * What one operator may ask of one process, over all paths. Its backend opens a session a login,
 * sometimes for everybody at once after a restart, and issues bonuses in batches: a hundred logins
 * a second are beyond any operator's need, and below what others would feel (I7).
 */
const REQUESTS_MAX = { perSecond: 100, burst: 1_000 };

/** Verified against where no operator has the `cid`, so that both refusals take the same time. */
const NOBODYS_KEYS: readonly SigningKey[] = signingKeys(['nobody']);

/**
 * Tells which operator asks (docs/contract.md, Operator API): `cid` in the body names it,
 * `x-sign-jws` over the raw bytes proves it. An unknown `cid` and a wrong signature look alike
 * (I8).
 */
export class OperatorGate {
  readonly #configuration: () => Configuration;
  readonly #metrics: Metrics;
  /** Prepared once per configuration object; a reload makes new ones. */
  readonly #prepared = new WeakMap<OperatorConfig, readonly SigningKey[]>();

  readonly #limits: TokenBuckets;

  constructor(configuration: () => Configuration, metrics: Metrics, clock: Clock) {
    this.#configuration = configuration;
    this.#metrics = metrics;
    this.#limits = new TokenBuckets(clock, REQUESTS_MAX);
  }

  /** @returns the request, or the refusal to be sent with `sendAnswer` */
  admit(request: FastifyRequest): OperatorRequest | Answer | LimitedAnswer {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const document = documentOf(body);
    if (!('value' in document)) return document;
    const cid = document.value.cid;
    if (typeof cid !== 'string') return failure(CODES.validation, 'cid: must be a string');
    const operator = this.#operatorOf(cid);
    const header = request.headers['x-sign-jws'];
    const verdict = verify(
      typeof header === 'string' ? header : undefined,
      body,
      operator === undefined ? NOBODYS_KEYS : this.#keysOf(operator),
    );
    if (operator === undefined || !verdict.ok) {
      this.#metrics.signatureFailures.inc({ caller: operator?.id ?? 'unknown' });
      return failure(CODES.badSignature, 'Unknown cid or invalid signature', 401);
    }
    // After the signature: nobody else can use up what an operator may ask.
    const waitMs = this.#limits.take(operator.id);
    if (waitMs > 0) return this.#limited(operator, waitMs);
    return { operator, document };
  }

  #limited(operator: OperatorConfig, waitMs: number): LimitedAnswer {
    this.#metrics.rejected.inc({ operator: operator.id, reason: 'rate' });
    const retryAfterSeconds = Math.ceil(waitMs / 1000);
    return {
      ...failure(CODES.timeout, `Too many requests: again in ${retryAfterSeconds} s`, 429),
      retryAfterSeconds,
    };
  }

  #operatorOf(cid: string): OperatorConfig | undefined {
    for (const operator of this.#configuration().operators.values()) {
      if (operator.api.cid === cid) return operator;
    }
    return undefined;
  }

  #keysOf(operator: OperatorConfig): readonly SigningKey[] {
    const known = this.#prepared.get(operator);
    if (known !== undefined) return known;
    const keys = signingKeys(operator.api.secrets);
    this.#prepared.set(operator, keys);
    return keys;
  }
}

function documentOf(body: Buffer): JsonDocument | Answer {
  try {
    return parseJsonObject(body);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const where = error.field === undefined ? '' : `${error.field}: `;
    return failure(CODES.validation, `${where}${error.message}`);
  }
}

/** The request's members by a schema, or the 400 that names the first wrong one. */
export function readFields<S extends z.ZodType>(
  schema: S,
  document: JsonDocument,
): { readonly fields: z.output<S> } | Answer {
  const result = schema.safeParse(document.value);
  if (result.success) return { fields: result.data };
  const [issue] = result.error.issues;
  const field = issue?.path.join('.') ?? '';
  return failure(CODES.validation, `${field}: ${issue?.message ?? 'is not valid'}`);
}

export function sendAnswer(reply: FastifyReply, answer: Answer | LimitedAnswer): void {
  if ('retryAfterSeconds' in answer) reply.header('retry-after', answer.retryAfterSeconds);
  reply
    .code(answer.status)
    .header('content-type', 'application/json; charset=utf-8')
    .send(answer.body);
}
