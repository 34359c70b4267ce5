import type { IncomingHttpHeaders } from 'node:http';
import type { Answer } from './answers.ts';

/** A callback as it was received; its signature is not verified yet. */
export interface IncomingCallback {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** On the injected monotonic clock; the callback's deadline counts from here. */
  readonly arrivedAtMs: number;
  /** The caller's address, behind the trusted proxies. Absent if the connection was reset. */
  readonly ip: string | undefined;
  /** Call it once the signature is verified: the connection counts as the service's from then on. */
  trust(): void;
  /** @param ended called once the callback is answered, or its caller has hung up */
  whenClosed(ended: () => void): void;
}

/** A path that the service calls, as the listener serves it. */
export interface CallbackEndpoint {
  readonly method: 'POST' | 'PUT';
  readonly path: string;
  /** @throws anything: it is logged, and answered with 503 or 500 */
  answer(callback: IncomingCallback): Promise<Answer>;
  /** The listener has refused a body unread, because it is too long. */
  noteTooLong(arrivedAtMs: number, refusal: Answer): void;
}
