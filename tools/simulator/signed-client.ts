import type { IncomingHttpHeaders } from 'node:http';
import { Pool } from 'undici';
import { systemClock } from '../../src/domain/clock.ts';
import { type SigningKey, sign, signingKeys } from '../../src/protocol/signature.ts';

export interface SignedClientOptions {
  /** The base address of the other side; its path is prefixed to every call's path. */
  readonly baseUrl: string;
  /** Signs every body. */
  readonly secret: string;
  /** How long an answer may take, body included; default 5000, the protocol's limit. */
  readonly timeoutMs?: number;
  /** Limit of concurrent connections; default 256. */
  readonly connectionsMax?: number;
}

export interface CallOptions {
  /** Another secret to sign with, or `null` to send no signature. */
  readonly signWith?: string | null;
  /** Added to the usual headers, and overriding them. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What came back, or that nothing did: then `status` is 0 and `failure` says why. */
export interface CallResult {
  readonly status: number;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
  /** The body if it is a JSON object; numbers as doubles. */
  readonly json: Readonly<Record<string, unknown>> | undefined;
  /** From the call until the last byte or the failure. */
  readonly ms: number;
  readonly failure: 'timeout' | 'connection' | undefined;
}

/** A caller that signs as everybody does in this protocol: detached JWS over the exact bytes sent. */
export class SignedClient {
  readonly #pool: Pool;
  readonly #basePath: string;
  readonly #timeoutMs: number;
  readonly #key: SigningKey;

  constructor(options: SignedClientOptions) {
    const url = new URL(options.baseUrl);
    this.#basePath = url.pathname.replace(/\/$/, '');
    this.#timeoutMs = options.timeoutMs ?? 5000;
    this.#key = keyOf(options.secret);
    const connections = options.connectionsMax ?? 256;
    // The only time limit is that of the call below, from connecting to the last byte.
    const noLimit = { headersTimeout: 0, bodyTimeout: 0 };
    this.#pool = new Pool(url.origin, { connections, pipelining: 1, ...noLimit });
  }

  /**
   * One call, never repeated; never rejects because of the other side.
   * @param body text or bytes are sent as they are, anything else as JSON
   */
  async call(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH',
    path: string,
    body: string | Buffer | object,
    options: CallOptions = {},
  ): Promise<CallResult> {
    const bytes = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const startedAtMs = systemClock.monotonicMs();
    const signal = AbortSignal.timeout(this.#timeoutMs);
    try {
      const answer = await this.#pool.request({
        method,
        path: this.#basePath + path,
        headers: this.#headers(bytes, options),
        body: bytes,
        signal,
      });
      const text = await answer.body.text();
      const { statusCode: status, headers } = answer;
      const ms = systemClock.monotonicMs() - startedAtMs;
      return { status, body: text, headers, json: objectOf(text), ms, failure: undefined };
    } catch (error) {
      const ms = systemClock.monotonicMs() - startedAtMs;
      const failure = signal.aborted ? 'timeout' : 'connection';
      const why = error instanceof Error ? error.message : String(error);
      return { status: 0, body: why, headers: {}, json: undefined, ms, failure };
    }
  }

  /** Breaks open connections. */
  async close(): Promise<void> {
    await this.#pool.destroy();
  }

  #headers(bytes: string | Buffer, { signWith, headers }: CallOptions): Record<string, string> {
    const key = typeof signWith === 'string' ? keyOf(signWith) : this.#key;
    const signature = signWith === null ? {} : { 'x-sign-jws': sign(bytes, key) };
    return { 'content-type': 'application/json', ...signature, ...headers };
  }
}

function keyOf(secret: string): SigningKey {
  const [key] = signingKeys([secret]);
  if (key === undefined) throw new Error('a secret gives a key');
  return key;
}

function objectOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    // Text that is not JSON is a valid answer here: it stays in `body`.
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
