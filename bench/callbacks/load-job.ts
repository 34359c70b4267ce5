import type { ServicePlayer } from '../../tools/simulator/service.ts';
import { startChild } from '../support/child.ts';

/** The load generator. `wrk` takes little processor time, but does not tell which bets were accepted. */
export type LoadClient = 'wrk' | 'autocannon';

export type LoadOperation = 'place' | 'balance';

export interface LoadJob {
  readonly client: LoadClient;
  /** The gateway or the proxy, without a path. */
  readonly url: string;
  readonly connections: number;
  readonly operation: LoadOperation;
  /** How many requests to prepare. `wrk` sends for `seconds`, and must not run out of them. */
  readonly bets: number;
  readonly seconds?: number;
  /** Every `transactionId` is this prefix and a number. */
  readonly prefix: string;
  readonly players: readonly ServicePlayer[];
  /** The service's secret. */
  readonly secret: string;
}

/** The path of each operation's callback. */
export const PATHS: Readonly<Record<LoadOperation, string>> = {
  place: '/payment/bet',
  balance: '/user/balance',
};

export interface LoadResult {
  readonly answered: number;
  /** When the first connection was opened, on the machine's monotonic clock (`process.hrtime`). */
  readonly startedAtMs: number;
  /** From then to the last answer. */
  readonly elapsedMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly connectionErrors: number;
  /** The number of answers with each status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** The bets that were answered 200, if the client can tell. */
  readonly accepted: readonly string[] | undefined;
}

/** Runs the job in its own process, so that it disturbs neither side. */
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
