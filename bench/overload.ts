import { startServers } from './callbacks/servers.ts';
import { type PhaseResult, SLICE_MS } from './open-loop/job.ts';
import { Load } from './open-loop/load.ts';
import { hundredths } from './support/figures.ts';
import { report } from './support/result.ts';
import { numbersOf } from './support/settings.ts';

const HELP = `npm run bench -- overload [options]

Places at a constant rate of several times the gateway's maximum, none of which waits for the one before: how
many are still accepted, how the others are refused, whether any is accepted too late, and how long it takes to
recover.

  --times <n>     how many times the maximum (3)
  --seconds <n>   for how long (15)
  --out <file>    where the result goes (bench/results/overload.json)`;

const CONNECTIONS = 64;
/**
 * Nearly as many connections as one gateway process allows. A request that finds none free is soon given up: it
 * would wait in the sender's own queue, which is no fault of the gateway.
 */
const SERVICE = { connectionsMax: 1_900, queueMs: 100 };
const MAXIMUM_SECONDS = 6;
const BEFORE_SECONDS = 5;
const AFTER_SECONDS = 10;
/** The gateway has recovered once all has been well for this long. */
const CALM_SLICES = 1_000 / SLICE_MS;
/** All is well if the median of accepted places is below this multiple of the usual one. */
const CALM_FACTOR = 2;
const CALM_MS = 10;

/** @returns 1 if a bet was lost or doubled. @throws SettingsError */
export async function runOverload(args: readonly string[]): Promise<number> {
  const { numbers, resultFile, help } = numbersOf(args, 'overload', {
    ...{ times: 3, seconds: 15 },
  });
  if (help) {
    console.log(HELP);
    return 0;
  }
  await using servers = await startServers();
  const load = new Load(servers);
  const most = Math.round(await load.maximum(servers.gateway, MAXIMUM_SECONDS, CONNECTIONS));
  console.log(`at most ${most} places a second; now ${numbers.times} times as many come`);
  const half = { perSecond: Math.round(most / 2) };
  const { phases, connections } = await load.open(
    servers.gateway,
    [
      { ...half, seconds: BEFORE_SECONDS },
      { perSecond: numbers.times * most, seconds: numbers.seconds },
      { ...half, seconds: AFTER_SECONDS },
    ],
    SERVICE,
  );
  const [before, over, after] = phases;
  if (before === undefined || over === undefined || after === undefined) {
    throw new Error('each phase has a result');
  }
  for (const [name, phase] of Object.entries({ before, over, after })) tell(name, phase);
  const recoveryMs = recoveredAfterMs(after, before.p50Ms);
  const unanswered = (over.answers.broken ?? 0) + (over.answers.silent ?? 0);
  return await report(resultFile, {
    benchmark: 'overload',
    settings: { ...numbers, isPinned: servers.isPinned },
    targets: [
      {
        what: 'accepted a second, of the maximum rate',
        value: hundredths(over.goodPerSecond / most),
        atLeast: 0.9,
      },
      { what: 'bets accepted after the service gave up', value: over.late + after.late, atMost: 0 },
      { what: 'bets that were given no answer', value: unanswered, atMost: 0 },
      { what: 'until all was well again, ms', value: recoveryMs, atMost: 2_000 },
    ],
    figures: {
      ...{ mostPerSecond: most, connections },
      ...{ before: figures(before), over: figures(over), after: figures(after) },
    },
    mistakes: await load.mistakes(),
  });
}

/** From the end of the overload to the beginning of a second in which everything is as before. */
function recoveredAfterMs({ slices }: PhaseResult, usualP50Ms: number): number {
  const limitMs = Math.max(CALM_FACTOR * usualP50Ms, usualP50Ms + CALM_MS);
  const isCalm = slices.map(({ sent, good, p50Ms }) => good === sent && p50Ms <= limitMs);
  const at = isCalm.findIndex((_, n) => {
    const second = isCalm.slice(n, n + CALM_SLICES);
    return second.length === CALM_SLICES && second.every(Boolean);
  });
  return at < 0 ? slices.length * SLICE_MS : at * SLICE_MS;
}

function figures({ slices: _, startedAtMs: __, ...rest }: PhaseResult) {
  return { ...rest, answers: named(rest.answers) };
}

/** With names that a document can use: `400:100` becomes `refused100`. */
function named(answers: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(answers).map(([answer, count]) => {
      const [status, code] = answer.split(':');
      return [
        code === undefined ? (status === '200' ? 'accepted' : answer) : `refused${code}`,
        count,
      ];
    }),
  );
}

function tell(name: string, phase: PhaseResult): void {
  const { sent, answers, goodPerSecond, p50Ms, p99Ms, refusedP99Ms, sentMaxMs } = phase;
  console.log(
    `${name}: ${sent} sent, ${goodPerSecond} accepted a second, p50 ${p50Ms} ms, p99 ${p99Ms} ms, ` +
      `at most ${sentMaxMs} ms from sending; refusals p99 ${refusedP99Ms} ms; ${JSON.stringify(answers)}`,
  );
}
