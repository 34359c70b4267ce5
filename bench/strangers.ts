import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createService, type ServicePlayer } from '../tools/simulator/service.ts';
import { type Servers, startServers } from './callbacks/servers.ts';
import { readSettings, STRANGERS_HELP, type StrangersSettings } from './strangers/settings.ts';
import { StalledBodies } from './strangers/stalled-bodies.ts';
import { residentBytes, residentBytesMax } from './support/memory.ts';

/** Between an answer to the service and its next place. */
const PLACE_EVERY_MS = 20;
/** Strangers come again this long after their connection was closed. */
const AGAIN_MS = 1_000;
/** Lets a new process settle before it is measured. */
const SETTLE_MS = 3_000;

/**
 * Measures what bodies cost that never end.
 * @returns 1 if a place of the service was not accepted meanwhile
 * @throws SettingsError
 */
export async function runStrangers(args: readonly string[]): Promise<number> {
  const settings = readSettings(args);
  if (settings.help) {
    console.log(STRANGERS_HELP);
    return 0;
  }
  await using servers = await startServers();
  const figures = await measure(servers, settings);
  const { beforeBytes, once, again } = figures;
  console.log(`${megabytes(beforeBytes)} MB resident before`);
  console.log(`${settings.connections} stalled bodies, once: ${attackLine(once)}`);
  console.log(`the same, again a second after each was closed: ${attackLine(again)}`);
  await writeResult(settings, figures);
  return [once, again].every(({ placed, accepted }) => accepted === placed) ? 0 : 1;
}

function attackLine({ opened, maxBytes, placed, accepted, p99Ms }: Attack): string {
  return (
    `${opened} connections, at most ${megabytes(maxBytes)} MB; ` +
    `${accepted} of ${placed} places accepted, p99 ${p99Ms} ms`
  );
}

async function measure(servers: Servers, settings: StrangersSettings) {
  const { gateway, players, serviceSecret: secret } = servers;
  const { pid } = gateway.process;
  const [player] = players;
  if (player === undefined) throw new Error('no player');
  const { origin } = new URL(gateway.url);
  const service = createService({ baseUrl: origin, secret, retryScale: 0 });
  await placeFor(service, player, SETTLE_MS);
  const beforeBytes = await residentBytes(pid);
  const attacked = async (againMs?: number): Promise<Attack> => {
    const strangers = new StalledBodies(gateway.url, settings.bodyBytes);
    strangers.start(settings.connections, againMs);
    const times = await placeFor(service, player, settings.seconds * 1_000);
    const maxBytes = await residentBytesMax(pid);
    strangers.stop();
    await sleep(SETTLE_MS);
    return { opened: strangers.opened, maxBytes, ...summaryOf(times) };
  };
  const once = await attacked();
  const again = await attacked(AGAIN_MS);
  await service.close();
  return { beforeBytes, once, again };
}

interface Attack {
  /** The number of connections opened. */
  readonly opened: number;
  /** The highest resident memory until the end. */
  readonly maxBytes: number | undefined;
  readonly placed: number;
  readonly accepted: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

function summaryOf(times: readonly (number | undefined)[]) {
  const accepted = times.filter((ms) => ms !== undefined).sort((one, other) => one - other);
  return {
    placed: times.length,
    accepted: accepted.length,
    p50Ms: Math.round(accepted[Math.floor(accepted.length / 2)] ?? 0),
    p99Ms: Math.round(accepted[Math.floor(accepted.length * 0.99)] ?? 0),
  };
}

/** How long each place took, one after another; undefined for one that was not accepted. */
async function placeFor(
  service: ReturnType<typeof createService>,
  player: ServicePlayer,
  ms: number,
): Promise<(number | undefined)[]> {
  const times: (number | undefined)[] = [];
  const endsAtMs = performance.now() + ms;
  while (performance.now() < endsAtMs) {
    const startedAtMs = performance.now();
    const { kind } = await service.place({ ...player, amount: '1' });
    times.push(kind === 'accepted' ? performance.now() - startedAtMs : undefined);
    await sleep(PLACE_EVERY_MS);
  }
  return times;
}

function megabytes(bytes: number | undefined): string {
  return bytes === undefined ? '?' : (bytes / 1e6).toFixed(0);
}

async function writeResult(settings: StrangersSettings, figures: object): Promise<void> {
  const { connections, bodyBytes, seconds, resultFile } = settings;
  const result = {
    benchmark: 'strangers',
    measuredAt: new Date().toISOString(),
    on: {
      node: process.version,
      platform: `${process.platform}-${process.arch}`,
      processors: availableParallelism(),
    },
    ...{ connections, bodyBytes, seconds },
    ...figures,
  };
  await mkdir(dirname(resultFile), { recursive: true });
  await writeFile(resultFile, `${JSON.stringify(result, null, 2)}\n`);
}
