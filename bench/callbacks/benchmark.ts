import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cpuTimeMs } from '../support/cpu-time.ts';
import { profileReport } from '../support/profile.ts';
import { type LoadResult, runLoad } from './load-job.ts';
import { comparison, type Measured, oneLine, type Round, resultJson, roundLine } from './report.ts';
import { type Servers, type Side, startServers } from './servers.ts';
import { CALLBACKS_HELP, type CallbacksSettings } from './settings.ts';
import { findMistakes } from './verify.ts';

const GATEWAY_PREFIX = 'gateway-';
const PROXY_PREFIX = 'proxy-';

/**
 * Place-bet throughput of the gateway beside that of a bare proxy, on the same machine, in front
 * of the same wallet, in turn.
 *
 * @returns 1 when a bet was lost or doubled on the way
 */
export async function runCallbacks(settings: CallbacksSettings): Promise<number> {
  if (settings.help) {
    console.log(CALLBACKS_HELP);
    return 0;
  }
  return settings.profile ? await profileGateway(settings) : await compare(settings);
}

async function compare(settings: CallbacksSettings): Promise<number> {
  await using servers = await startServers();
  const bench = new Bench(settings, servers);
  console.log(`warm-up: ${settings.warmUpBets} bets each`);
  const gatewayBets = bench.roundBets(
    await bench.run(servers.gateway, GATEWAY_PREFIX, settings.warmUpBets),
  );
  const proxyBets = bench.roundBets(
    await bench.run(servers.proxy, PROXY_PREFIX, settings.warmUpBets),
  );
  const rounds: Round[] = [];
  for (let n = 1; n <= settings.rounds; n += 1) {
    const gateway = await bench.run(servers.gateway, GATEWAY_PREFIX, gatewayBets);
    const proxy = await bench.run(servers.proxy, PROXY_PREFIX, proxyBets);
    rounds.push({ gateway, proxy });
    console.log(`round ${n} of ${settings.rounds}: ${roundLine({ gateway, proxy })}`);
  }
  const mistakes = await findMistakes(servers, GATEWAY_PREFIX, bench.accepted);
  console.log(`\n${comparison(settings, rounds)}\n`);
  await writeResult(settings.resultFile, resultJson(settings, rounds, mistakes));
  return tellMistakes(mistakes, bench.accepted.length);
}

async function profileGateway(settings: CallbacksSettings): Promise<number> {
  const name = 'gateway.cpuprofile';
  await using servers = await startServers((folder) => [
    '--cpu-prof',
    `--cpu-prof-dir=${folder}`,
    `--cpu-prof-name=${name}`,
  ]);
  const bench = new Bench(settings, servers);
  const { gateway } = servers;
  const warmUp = await bench.run(gateway, GATEWAY_PREFIX, settings.warmUpBets);
  const round = await bench.run(gateway, GATEWAY_PREFIX, bench.roundBets(warmUp));
  const mistakes = await findMistakes(servers, GATEWAY_PREFIX, bench.accepted);
  // The profile is written when the process ends.
  await gateway.process.stop();
  console.log(oneLine('gateway, profiled', round));
  const { startedAtMs: fromMs } = round;
  const window = { fromMs, toMs: fromMs + round.elapsedMs };
  console.log(await profileReport(join(gateway.process.folder, name), window));
  return tellMistakes(mistakes, bench.accepted.length);
}

/** Runs rounds against either side and remembers every bet that the gateway accepted. */
class Bench {
  readonly accepted: string[] = [];
  readonly #settings: CallbacksSettings;
  readonly #servers: Servers;
  #runs = 0;

  constructor(settings: CallbacksSettings, servers: Servers) {
    this.#settings = settings;
    this.#servers = servers;
  }

  async run(side: Side, prefix: string, bets: number): Promise<Measured> {
    const { players, serviceSecret: secret } = this.#servers;
    this.#runs += 1;
    const cpuBeforeMs = await cpuTimeMs(side.process.pid);
    const result = await runLoad({
      url: side.url,
      connections: this.#settings.connections,
      bets,
      prefix: `${prefix}${this.#runs}-`,
      players,
      secret,
    });
    const cpuAfterMs = await cpuTimeMs(side.process.pid);
    if (prefix === GATEWAY_PREFIX) this.accepted.push(...result.accepted);
    const knowsCpu = cpuBeforeMs !== undefined && cpuAfterMs !== undefined;
    return { ...result, cpuMs: knowsCpu ? cpuAfterMs - cpuBeforeMs : undefined };
  }

  /** As many bets as the side answers in a round, to judge by its warm-up. */
  roundBets({ answered, elapsedMs }: LoadResult): number {
    const { roundSeconds, connections } = this.#settings;
    return Math.max(connections, Math.round((roundSeconds * 1000 * answered) / elapsedMs));
  }
}

async function writeResult(file: string, json: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, json);
}

function tellMistakes(mistakes: readonly string[], accepted: number): number {
  if (mistakes.length === 0) {
    console.log(`${accepted} bets answered 200: each once at the wallet and once in the journal`);
    return 0;
  }
  for (const mistake of mistakes) console.error(`WRONG: ${mistake}`);
  return 1;
}
