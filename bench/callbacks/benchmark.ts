import { cpus } from 'node:os';
import { join } from 'node:path';
import { cpuTimeMs, treeCpuTimeMs } from '../support/cpu-time.ts';
import { runs, unpin } from '../support/processors.ts';
import { profileReport } from '../support/profile.ts';
import { report } from '../support/result.ts';
import type { Side } from '../support/surroundings.ts';
import { type LoadClient, type LoadOperation, type LoadResult, runLoad } from './load-job.ts';
import { comparison, type Measured, oneLine, type Round, resultOf, roundLine } from './report.ts';
import { type Servers, startServers } from './servers.ts';
import { CALLBACKS_HELP, type CallbacksSettings } from './settings.ts';
import { type Accepted, findMistakes } from './verify.ts';

const GATEWAY_PREFIX = 'gateway-';
const PROXY_PREFIX = 'proxy-';
/** Requests are signed in advance: this many times more than the warm-up's pace needs. */
const RESERVE = 2.5;

/**
 * Compares what the gateway serves with what a bare proxy serves, alternately, on the same machine and in front of
 * the same wallet.
 *
 * @returns 1 if a bet was lost or doubled
 */
export async function runCallbacks(settings: CallbacksSettings): Promise<number> {
  if (settings.help) {
    console.log(CALLBACKS_HELP);
    return 0;
  }
  const client = settings.client ?? ((await runs('which', ['wrk'])) ? 'wrk' : 'autocannon');
  return settings.profile
    ? await profileGateway(settings, client)
    : await compare(settings, client);
}

async function compare(settings: CallbacksSettings, client: LoadClient): Promise<number> {
  await using servers = await startServers();
  const bench = new Bench(settings, servers, client);
  const pinned = servers.isPinned ? 'a processor for themselves' : 'no processor of their own';
  console.log(`sent by ${client}; the gateway and the proxy have ${pinned}`);
  const measured = new Map<LoadOperation, Round[]>();
  for (const operation of settings.operations) {
    measured.set(operation, await bench.rounds(operation));
  }
  const mistakes = await findMistakes(servers, GATEWAY_PREFIX, bench.accepted);
  console.log(`\n${comparison(settings, measured)}\n`);
  const how = { ...settings, client, isPinned: servers.isPinned };
  return await report(settings.resultFile, resultOf(how, measured, mistakes));
}

async function profileGateway(settings: CallbacksSettings, client: LoadClient): Promise<number> {
  const name = 'gateway.cpuprofile';
  await using servers = await startServers({
    gatewayFlags: (folder) => ['--cpu-prof', `--cpu-prof-dir=${folder}`, `--cpu-prof-name=${name}`],
  });
  const bench = new Bench(settings, servers, client);
  const { gateway } = servers;
  // The profiler's own thread must not compete with what it measures.
  await unpin(cpus().length, gateway.process.pid);
  const [operation = 'place'] = settings.operations;
  const warmUp = await bench.warmUp(operation, gateway);
  const round = await bench.run(operation, gateway, bench.roundBets(warmUp));
  const mistakes = await findMistakes(servers, GATEWAY_PREFIX, bench.accepted);
  // The profile is written when the process ends.
  await gateway.process.stop();
  console.log(oneLine('gateway, profiled', round));
  const { startedAtMs: fromMs } = round;
  const window = { fromMs, toMs: fromMs + round.elapsedMs };
  console.log(await profileReport(join(gateway.process.folder, name), window));
  for (const mistake of mistakes) console.error(`WRONG: ${mistake}`);
  return mistakes.length === 0 ? 0 : 1;
}

async function times(side: Side, postgresPid: number) {
  return { side: await cpuTimeMs(side.process.pid), postgres: await treeCpuTimeMs(postgresPid) };
}

function since(beforeMs: number | undefined, afterMs: number | undefined): number | undefined {
  return beforeMs === undefined || afterMs === undefined ? undefined : afterMs - beforeMs;
}

/** Runs rounds against either side and remembers what the gateway has accepted. */
class Bench {
  readonly #settings: CallbacksSettings;
  readonly #servers: Servers;
  readonly #client: LoadClient;
  readonly #ids: string[] = [];
  #count = 0;
  /** Requests under way when `wrk` stopped: their answers are unknown. */
  #cut = 0;
  #runs = 0;

  constructor(settings: CallbacksSettings, servers: Servers, client: LoadClient) {
    this.#settings = settings;
    this.#servers = servers;
    this.#client = client;
  }

  get accepted(): Accepted {
    const ids = this.#client === 'wrk' ? undefined : this.#ids;
    return { count: this.#count, cut: this.#cut, ids };
  }

  async rounds(operation: LoadOperation): Promise<Round[]> {
    const { gateway, proxy } = this.#servers;
    const { warmUpBets, rounds } = this.#settings;
    console.log(`\n${operation}: warm-up, ${warmUpBets} each`);
    const gatewayBets = this.roundBets(await this.warmUp(operation, gateway));
    const proxyBets = this.roundBets(await this.warmUp(operation, proxy));
    const measured: Round[] = [];
    for (let n = 1; n <= rounds; n += 1) {
      const round = {
        gateway: await this.run(operation, gateway, gatewayBets),
        proxy: await this.run(operation, proxy, proxyBets),
      };
      measured.push(round);
      console.log(`round ${n} of ${rounds}: ${roundLine(round)}`);
    }
    return measured;
  }

  async warmUp(operation: LoadOperation, side: Side): Promise<Measured> {
    return await this.#load(operation, side, this.#settings.warmUpBets, 'autocannon');
  }

  async run(operation: LoadOperation, side: Side, bets: number): Promise<Measured> {
    return await this.#load(operation, side, bets, this.#client);
  }

  async #load(
    operation: LoadOperation,
    side: Side,
    bets: number,
    client: LoadClient,
  ): Promise<Measured> {
    const { players, serviceSecret: secret, gateway, postgresPid } = this.#servers;
    const { connections, roundSeconds: seconds } = this.#settings;
    this.#runs += 1;
    const prefix = `${this.#prefixOf(side)}${this.#runs}-`;
    const before = await times(side, postgresPid);
    const { url } = side;
    const job = { client, operation, url, connections, bets, seconds, prefix, players, secret };
    const result = await runLoad(job);
    const after = await times(side, postgresPid);
    if (side === gateway && operation === 'place') this.#remember(result);
    return {
      ...result,
      cpuMs: since(before.side, after.side),
      postgresCpuMs: since(before.postgres, after.postgres),
    };
  }

  #prefixOf(side: Side): string {
    return side === this.#servers.gateway ? GATEWAY_PREFIX : PROXY_PREFIX;
  }

  #remember({ accepted, statuses }: LoadResult): void {
    this.#count += statuses['200'] ?? 0;
    if (accepted === undefined) this.#cut += this.#settings.connections;
    else this.#ids.push(...accepted);
  }

  /** As many requests as this side should answer in a round, judging by its warm-up. */
  roundBets({ answered, elapsedMs }: LoadResult): number {
    const { roundSeconds, connections } = this.#settings;
    const reserve = this.#client === 'wrk' ? RESERVE : 1;
    const bets = (reserve * roundSeconds * 1000 * answered) / elapsedMs;
    return Math.max(connections, Math.round(bets));
  }
}
