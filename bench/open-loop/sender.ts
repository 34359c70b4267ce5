import { PATHS } from '../callbacks/load-job.ts';
import { requestBytes, requestMaker } from '../callbacks/requests.ts';
import { machineMs } from '../support/machine-clock.ts';
import { type Answer, Connection } from './connection.ts';
import { type OpenJob, SERVICE_WAITS_MS } from './job.ts';

/** Further requests are made and signed during the run: memory does not suffice for all of them. */
const AHEAD_MAX = 120_000;
/** Waits beyond the service's limit, so that late answers are seen. */
const PATIENCE_MS = SERVICE_WAITS_MS + 3_000;
const TICK_MS = 1;

/** What happened to one request. Times are on the monotonic clock; 0 is never. */
export interface Call {
  readonly dueAtMs: number;
  sentAtMs: number;
  answeredAtMs: number;
  /** See `PhaseResult.answers`. */
  answer: string;
}

/** Sends each request when it is due, on any free connection. */
export class Sender {
  readonly calls: Call[] = [];
  connections = 0;
  readonly #job: OpenJob;
  readonly #url: URL;
  readonly #bytesOf: (n: number) => Buffer;
  readonly #dueAtMs: Float64Array;
  readonly #free: Connection[] = [];
  readonly #open = new Set<Connection>();
  /** Requests that wait for a free connection, the oldest first, from `#queueAt` on. */
  readonly #queue: number[] = [];
  #queueAt = 0;
  #unanswered = 0;

  constructor(job: OpenJob) {
    this.#job = job;
    this.#url = new URL(PATHS[job.operation], job.url);
    this.#dueAtMs = dueTimes(job);
    const make = requestMaker(job);
    const bytesOf = (n: number) => requestBytes(this.#url, make(n));
    const count = this.#dueAtMs.length;
    const ahead = count <= AHEAD_MAX ? Array.from({ length: count }, (_, n) => bytesOf(n)) : [];
    this.#bytesOf = (n) => ahead[n] ?? bytesOf(n);
  }

  /** @returns when the first request was due */
  async run(): Promise<number> {
    const startedAtMs = machineMs() + 10;
    for (let next = 0; next < this.#dueAtMs.length || this.#unanswered > 0; ) {
      const elapsedMs = machineMs() - startedAtMs;
      for (; (this.#dueAtMs[next] ?? Number.POSITIVE_INFINITY) <= elapsedMs; next += 1) {
        this.#due(next, startedAtMs);
      }
      this.#giveUp();
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    }
    for (const connection of this.#open) connection.close();
    return startedAtMs;
  }

  #due(n: number, startedAtMs: number): void {
    const dueAtMs = startedAtMs + (this.#dueAtMs[n] ?? 0);
    this.calls.push({ dueAtMs, sentAtMs: 0, answeredAtMs: 0, answer: 'silent' });
    this.#unanswered += 1;
    const connection = this.#free.pop() ?? this.#another();
    if (connection === undefined) this.#queue.push(n);
    else this.#send(n, connection);
  }

  #another(): Connection | undefined {
    if (this.#open.size >= this.#job.connectionsMax) return undefined;
    this.connections += 1;
    const connection = new Connection(
      this.#url,
      (freed) => this.#freed(freed),
      (gone) => this.#gone(gone),
    );
    this.#open.add(connection);
    return connection;
  }

  #freed(connection: Connection): void {
    const next = this.#queue[this.#queueAt];
    if (next === undefined) {
      this.#free.push(connection);
      return;
    }
    this.#queueAt += 1;
    this.#send(next, connection);
  }

  #gone(connection: Connection): void {
    this.#open.delete(connection);
    const at = this.#free.indexOf(connection);
    if (at >= 0) this.#free.splice(at, 1);
    // A new connection for the request that waited for this one.
    const instead = this.#queueAt < this.#queue.length ? this.#another() : undefined;
    if (instead !== undefined) this.#freed(instead);
  }

  #send(n: number, connection: Connection): void {
    const call = this.calls[n];
    if (call === undefined) throw new Error(`request ${n} is not due yet`);
    call.sentAtMs = machineMs();
    connection.send(this.#bytesOf(n), (answer) => {
      // It was given up before.
      if (call.answer !== 'silent') return;
      this.#unanswered -= 1;
      call.answeredAtMs = machineMs();
      call.answer = answer === undefined ? 'broken' : nameOf(answer);
    });
  }

  /** Requests that wait too long for a connection are not sent; those that wait for an answer are left alone. */
  #giveUp(): void {
    const { queueMs = SERVICE_WAITS_MS } = this.#job;
    const now = machineMs();
    for (;;) {
      const call = this.calls[this.#queue[this.#queueAt] ?? -1];
      if (call === undefined || now - call.dueAtMs < queueMs) break;
      call.answer = 'unsent';
      this.#unanswered -= 1;
      this.#queueAt += 1;
    }
    const last = this.calls.at(-1);
    const isOver = this.calls.length === this.#dueAtMs.length;
    if (isOver && last !== undefined && now - last.dueAtMs > PATIENCE_MS) this.#unanswered = 0;
  }
}

function nameOf({ status, code }: Answer): string {
  return code === undefined || status === 200 ? String(status) : `${status}:${code}`;
}

/** The time at which each request is due, from the beginning. */
function dueTimes({ phases }: OpenJob): Float64Array {
  let fromMs = 0;
  const times = phases.flatMap(({ perSecond, seconds }) => {
    const beganMs = fromMs;
    fromMs += seconds * 1000;
    const count = Math.round(perSecond * seconds);
    return Array.from({ length: count }, (_, n) => beganMs + (n * 1000) / perSecond);
  });
  return Float64Array.from(times);
}
