import type { Requests } from '../callbacks/requests.ts';
import { startChild } from '../support/child.ts';

/** Requests at a constant rate, whatever happens to earlier ones. */
export interface Phase {
  readonly perSecond: number;
  readonly seconds: number;
}

export interface OpenJob extends Requests {
  /** The address of the measured side, without a path. */
  readonly url: string;
  readonly phases: readonly Phase[];
  /** Limit of concurrent connections, which are opened on demand. Beyond it, a request waits for one, */
  readonly connectionsMax: number;
  /** but no longer than this; default: as long as the service waits for an answer. */
  readonly queueMs?: number;
}

/** How long the service waits for an answer (service protocol, Limits). */
export const SERVICE_WAITS_MS = 5_000;

export interface PhaseResult {
  readonly sent: number;
  /** The phase's beginning, on the machine's monotonic clock. */
  readonly startedAtMs: number;
  /**
   * The number of answers of each kind: a status, with the code of a refusal (`400:100`), `broken` (the connection
   * broke), `silent` (no answer at all), `unsent` (no connection was free for too long).
   */
  readonly answers: Readonly<Record<string, number>>;
  /** Good answers per second, by the time of their arrival. */
  readonly goodPerSecond: number;
  /**
   * Latencies of good answers, from when the request was due, so that waiting behind a slow answer counts in full
   * (no coordinated omission).
   */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Latency of refusals, from when the request was sent. */
  readonly refusedP99Ms: number;
  /** Good answers that came after the service had given up, counted from when the request was sent. */
  readonly late: number;
  /** The highest latency of a good answer, from when the request was sent. */
  readonly sentMaxMs: number;
  readonly slices: readonly Slice[];
}

/** The results of the requests that were due within one slice of time. */
export interface Slice {
  readonly sent: number;
  readonly good: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export const SLICE_MS = 100;

export interface OpenResult {
  readonly phases: readonly PhaseResult[];
  /** The numbers of requests that were answered 200. */
  readonly good: readonly number[];
  /** The number of requests whose answers were not received. */
  readonly cut: number;
  /** The number of connections opened. */
  readonly connections: number;
}

/** Runs the job in its own process. */
export async function runOpen(job: OpenJob): Promise<OpenResult> {
  await using child = await startChild({
    script: 'bench/open-loop/send.ts',
    input: JSON.stringify(job),
  });
  const line = await child.line((json) => 'phases' in json);
  if (!isOpenResult(line)) throw new Error('the sender printed something else');
  return line;
}

function isOpenResult(line: object): line is OpenResult {
  return 'phases' in line && 'good' in line && 'cut' in line;
}
