import type { ServicePlayer } from '../../tools/simulator/service.ts';
import { startChild } from '../support/child.ts';

/** Who sends. `wrk` takes little from whom it measures, but does not tell which bets were accepted. */
export type LoadClient = 'wrk' | 'autocannon';

export type LoadOperation = 'place' | 'balance';

export interface LoadJob {
  readonly client: LoadClient;
  /** Of the gateway or of the proxy, without a path. */
  readonly url: string;
  readonly connections: number;
  readonly operation: LoadOperation;
  /** How many requests to send. `wrk` sends for `seconds`, and must not run out of them. */
  readonly bets: number;
  readonly seconds?: number;
  /** Every `transactionId` is this and a number. */
  readonly prefix: string;
  readonly players: readonly ServicePlayer[];
  /** The service's. */
  readonly secret: string;
}

/** Where callbacks of an operation go. */
export const PATHS: Readonly<Record<LoadOperation, string>> = {
  place: '/payment/bet',
  balance: '/user/balance',
};

export interface LoadResult {
  readonly answered: number;
  /** When the first connection was made, on the machine's monotonic clock (`process.hrtime`). */
  readonly startedAtMs: number;
  /** From then to the last answer. */
  readonly elapsedMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly connectionErrors: number;
  /** How many answers of each status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** The bets that were answered 200, where the client tells which. */
  readonly accepted: readonly string[] | undefined;
}

/** Runs the job in a process of its own, so that preparing and measuring disturb nobody. */
export async function runLoad(job: LoadJob): Promise<LoadResult> {
  await using child = await startChild({
    script: 'bench/callbacks/load.ts',
    input: JSON.stringify(job),
  });
  const line = await child.line((json) => 'answered' in json);
  if (!isLoadResult(line)) throw new Error('the load generator printed something else');
  return line;
}

function isLoadResult(line: object): line is LoadResult {
  return 'answered' in line && 'elapsedMs' in line && 'statuses' in line;
}
