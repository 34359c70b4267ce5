import type { Requests } from '../callbacks/requests.ts';
import { startChild } from '../support/child.ts';

/** Requests at a constant rate, whatever becomes of those before. */
export interface Phase {
  readonly perSecond: number;
  readonly seconds: number;
}

export interface OpenJob extends Requests {
  /** Of whom they are sent to, without a path. */
  readonly url: string;
  readonly phases: readonly Phase[];
  /** Connections at once, made as they are needed. Beyond, a request waits for one, */
  readonly connectionsMax: number;
  /** but not longer than this; default: as long as the service waits for an answer. */
  readonly queueMs?: number;
}

/** The service's own limit for an answer (docs/protocol.md, Limits). */
export const SERVICE_WAITS_MS = 5_000;

export interface PhaseResult {
  readonly sent: number;
  /** Of the phase's beginning, on the machine's monotonic clock. */
  readonly startedAtMs: number;
  /**
   * How many answers of each kind: a status, with the code of a refusal (`400:100`), `broken` (the
   * connection was), `silent` (no answer at all), `unsent` (no connection was free for too long).
   */
  readonly answers: Readonly<Record<string, number>>;
  /** Good answers a second, by when they came. */
  readonly goodPerSecond: number;
  /**
   * Of good answers, from when the request was to be sent, so that what waits behind a slow answer
   * counts in full (no coordinated omission).
   */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Of refusals, from when they were sent. */
  readonly refusedP99Ms: number;
  /** Good answers that came after the service had given up, counted from when they were sent. */
  readonly late: number;
  /** The longest of good answers from when it was sent. */
  readonly sentMaxMs: number;
  readonly slices: readonly Slice[];
}

/** What became of the requests that were to be sent within so many milliseconds. */
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
  /** How many there were whose answer nobody heard. */
  readonly cut: number;
  /** Connections that were made. */
  readonly connections: number;
}

/** Runs the job in a process of its own. */
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
