import type { IncomingHttpHeaders } from 'node:http';

/** A request exactly as it came, for tests that look at the wire. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** On the wallet's monotonic clock, when the body was complete. */
  readonly atMs: number;
}

/** The most recent requests, at most `cap`. */
export class Recorder {
  readonly #cap: number;
  #requests: RecordedRequest[] = [];

  constructor(cap: number) {
    this.#cap = cap;
  }

  record(request: RecordedRequest): void {
    if (this.#cap === 0) return;
    this.#requests.push(request);
    // Trimmed in large steps: removing one at a time would cost a load test its throughput.
    if (this.#requests.length > 2 * this.#cap) this.#requests = this.recent();
  }

  recent(): RecordedRequest[] {
    return this.#requests.slice(-this.#cap);
  }
}
