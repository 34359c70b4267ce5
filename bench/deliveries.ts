import { drainBacklog, drainLine } from './deliveries/drain.ts';
import { openScene } from './deliveries/scene.ts';
import { report } from './support/result.ts';
import { optionsOf, positive } from './support/settings.ts';

const HELP = `npm run bench -- deliveries [options]

Promised rollbacks of one operator, written into PostgreSQL (fsync on) as the gateway would, delivered
by one worker process with the operator's default concurrency to a wallet that answers at once.

  --backlog <n>   deliveries that are drained (20000)
  --profile       under the CPU profiler, without a result: which functions take the time
  --out <file>    where the result goes (bench/results/deliveries.json)`;

const OPTIONS = {
  backlog: { type: 'string', default: '20000' },
  profile: { type: 'boolean', default: false },
  out: { type: 'string', default: 'bench/results/deliveries.json' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/**
 * Measures how fast a backlog of deliveries drains.
 *
 * @returns 1 if a delivery never reached the wallet, or reached it twice
 * @throws SettingsError
 */
export async function runDeliveries(args: readonly string[]): Promise<number> {
  const { backlog: backlogText, profile, out, help } = optionsOf(args, OPTIONS);
  const backlog = positive('--backlog', backlogText);
  if (help) {
    console.log(HELP);
    return 0;
  }
  await using scene = await openScene();
  const { mistakes, ...drain } = await drainBacklog(scene, { backlog, profile });
  console.log(drainLine(drain));
  if (profile) {
    for (const mistake of mistakes) console.error(`WRONG: ${mistake}`);
    return mistakes.length === 0 ? 0 : 1;
  }
  return await report(out, {
    benchmark: 'deliveries',
    settings: { backlog },
    targets: [{ what: 'confirmed a second', value: drain.perSecond, atLeast: 5_000 }],
    figures: { drain },
    mistakes,
  });
}
