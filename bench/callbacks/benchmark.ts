import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cpuTimeMs } from '../support/cpu-time.ts';
import { profileReport } from '../support/profile.ts';
import { type LoadResult, runLoad } from './load-job.ts';
import { type Round, reportOf, resultJson } from './report.ts';
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
  await using servers = await startServers([]);
  const bench = new Bench(settings, servers);
  console.log(`warm-up: ${settings.warmUpBets} bets each`);
  const gatewayBets = bench.roundBets(await bench.run(servers.gateway, GATEWAY_PREFIX, settings.warmUpBets));
  const proxyBets = bench.roundBets(await bench.run(servers.proxy, PROXY_PREFIX, settings.warmUpBets));
  const rounds: Round[] = [];
  for (let n = 1; n <= settings.rounds; n += 1) {
    const gateway = await bench.run(servers.gateway, GATEWAY_PREFIX, gatewayBets);
    const proxy = await bench.run(servers.proxy, PROXY_PREFIX, proxyBets);
    rounds.push({ gateway, proxy });
    console.log(`round ${n} of ${settings.rounds}: ${reportOf.round({ gateway, proxy })}`);
  }
  const mistakes = await findMistakes(servers, GATEWAY_PREFIX, bench.accepted);
  console.log(`\n${reportOf.all(settings, rounds)}\n`);
  await writeResult(settings.resultFile, resultJson(settings, rounds, mistakes));
  return tellMistakes(mistakes, bench.accepted.length);
}

async function profileGateway(settings: CallbacksSettings): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'wagergate-profile-'));
  try {
    const flags = ['--cpu-prof', `--cpu-prof-dir=${folder}`, '--cpu-prof-name=gateway.cpuprofile'];
    await using servers = await startServers(flags);
    const bench = new Bench(settings, servers);
    const warmUp = await bench.run(servers.gateway, GATEWAY_PREFIX, settings.warmUpBets);
    const fromMs = performance.timeOrigin;
    void fromMs;
    const startedMs = hrtimeMs();
    const round = await bench.run(servers.gateway, GATEWAY_PREFIX, bench.roundBets(warmUp));
    const endedMs = hrtimeMs();
    const mistakes = await findMistakes(servers, GATEWAY_PREFIX, bench.accepted);
    await servers.gateway.process.stop();
    console.log(reportOf.side('gateway under the profiler', round));
    const file = join(folder, 'gateway.cpuprofile');
    console.log(await profileReport(file, { fromMs: startedMs, toMs: endedMs }));
    return tellMistakes(mistakes, bench.accepted.length);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
