import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createService, type ServicePlayer } from '../tools/simulator/service.ts';
import { type Servers, startServers } from './callbacks/servers.ts';
import { readSettings, STRANGERS_HELP, type StrangersSettings } from './strangers/settings.ts';
import { StalledBodies } from './strangers/stalled-bodies.ts';
import { residentBytes, residentBytesMax } from './support/memory.ts';

/** Between one answer to the service and its next place. */
const PLACE_EVERY_MS = 20;
/** A process that has just started is not what is compared. */
const SETTLE_MS = 3_000;

/**
 * What bodies that never end cost.
 * @returns 1 when a place of the service was not accepted meanwhile
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
  console.log(
    `${settings.connections} stalled bodies of ${settings.bodyBytes} bytes (${figures.opened} connections in ` +
      `${settings.seconds} s): ${megabytes(figures.beforeBytes)} MB resident before, at most ` +
      `${megabytes(figures.maxBytes)} MB, ${megabytes(figures.afterBytes)} MB after; ` +
      `${figures.accepted} of ${figures.placed} places accepted, p99 ${figures.p99Ms} ms`,
  );
  await writeResult(settings, figures);
  return figures.accepted === figures.placed ? 0 : 1;
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
  const strangers = new StalledBodies(gateway.url, settings.bodyBytes);
  strangers.start(settings.connections);
  const times = await placeFor(service, player, settings.seconds * 1_000);
  const maxBytes = await residentBytesMax(pid);
  strangers.stop();
  await sleep(SETTLE_MS);
  const afterBytes = await residentBytes(pid);
  await service.close();
  const accepted = times.filter((ms) => ms !== undefined).sort((one, other) => one - other);
  return {
    opened: strangers.opened,
    beforeBytes,
    maxBytes,
    afterBytes,
    placed: times.length,
    accepted: accepted.length,
    p50Ms: Math.round(accepted[Math.floor(accepted.length / 2)] ?? 0),
    p99Ms: Math.round(accepted[Math.floor(accepted.length * 0.99)] ?? 0),
  };
}

/** How long each place took, one after the other; undefined for one that was not accepted. */
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
