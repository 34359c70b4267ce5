import { parseArgs } from 'node:util';
import { Interrupted, untilInterrupted } from '../../src/cli/interruption.ts';
import { RunningGateway } from '../../src/cli/running-gateway.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { compareBooks, playersTable } from '../simulator/books.ts';
import { createCast } from './cast.ts';
import { playJourney } from './journey/journey.ts';
import { printAddresses } from './keep.ts';
import { Narrator } from './narrator.ts';
import { openStage, type Stage } from './stage.ts';
import { dayEnd } from './statements.ts';

const HELP = `npm run demo [-- --keep]

Starts PostgreSQL, Redis, the gateway, two operators' wallets and a betting service on this machine,
plays what happens between them, and compares the books of all of them at the end.
Ends with 0 when every step did what it says and the books agree.

  --keep   stays up afterwards and tells addresses, secrets and an example call, until Ctrl-C
  --help   this text`;

const SIGPIPE = 13;

async function main(): Promise<number> {
  const options = readOptions();
  if (options === undefined) return 2;
  if (options.help) {
    console.log(HELP);
    return 0;
  }
  const narrator = new Narrator(process.stdout);
  const { keep } = options;
  try {
    return await untilInterrupted(
      () => undefined,
      (signal) => run(keep, narrator, untilUnread(signal)),
    );
  } catch (error) {
    narrator.silence();
    if (error instanceof Interrupted) return error.exitCode;
    console.error(`The demo cannot go on: ${error instanceof Error ? error.message : error}`);
    return 1;
  }
}

/** Ends the demo too when the reader of its output is gone, as with `| head`. */
function untilUnread(signal: AbortSignal): AbortSignal {
  const unread = new AbortController();
  process.stdout.on('error', () => unread.abort(new Interrupted(SIGPIPE)));
  return AbortSignal.any([signal, unread.signal]);
}

async function run(keep: boolean, narrator: Narrator, signal: AbortSignal): Promise<number> {
  const { promise: rejection, reject } = Promise.withResolvers<never>();
  // Nobody may be waiting for it yet.
  rejection.catch(() => undefined);
  signal.addEventListener('abort', () => reject(signal.reason));
  const startedAtMs = systemClock.monotonicMs();
  const seconds = () => `${((systemClock.monotonicMs() - startedAtMs) / 1000).toFixed(1)} s`;
  const stage = await openStage(createCast(), {
    signal,
    progress: (doing) => narrator.progress(doing),
  });
  try {
    narrator.line(`Everything is up after ${seconds()}.`);
    const players = await Promise.race([playJourney(stage, narrator), rejection]);
    const good = await printEnd(stage, narrator, seconds);
    if (keep) {
      const { cast, gateway } = stage;
      const asked = new RunningGateway({ ADMIN_TOKEN: cast.adminToken }, gateway.adminUrl);
      const link = await asked.signInLink('admin');
      printAddresses(stage, players, link.url, narrator);
      await stayUp(stage, rejection);
    }
    return good ? 0 : 1;
  } finally {
    // An interrupted journey keeps failing while its stage is taken down.
    if (signal.aborted) narrator.silence();
    await stage.close();
  }
}

/** @returns whether everything went as promised */
async function printEnd(stage: Stage, narrator: Narrator, seconds: () => string): Promise<boolean> {
  const { service, wallets, gateway, environment } = stage;
  narrator.heading('What each wallet holds, what the service believes');
  const comparison = compareBooks(service.books(), [wallets.alpha.books(), wallets.beta.books()]);
  narrator.line(playersTable(comparison));
  narrator.line();
  narrator.heading("Each operator's statement of this day, preliminary: the day is open");
  const end = await dayEnd(environment.DATABASE_URL ?? '', wallets);
  narrator.line(end.table);
  narrator.line();
  const wrong = [...narrator.failures, ...comparison.differences, ...end.differences];
  const took = seconds();
  if (wrong.length === 0) {
    narrator.good(`All ${narrator.steps} steps did what they say and the books agree. ${took}`);
    return true;
  }
  narrator.bad(`Not as promised (${took}):`);
  for (const each of wrong) narrator.line(`  ${each}`);
  const complaints = gateway.complaints();
  if (complaints.length > 0) narrator.line('What the gateway complained of:');
  for (const each of complaints) narrator.line(`  ${each}`);
  return false;
}

/** @throws Error if the gateway ends by itself */
async function stayUp(stage: Stage, rejection: Promise<never>): Promise<void> {
  const ended = stage.gateway.exited.then((exit) => {
    throw new Error(`the gateway ended (${exit.signal ?? exit.code})`);
  });
  await Promise.race([ended, rejection]).catch((error: unknown) => {
    // Here the signal is the expected end.
    if (!(error instanceof Interrupted)) throw error;
  });
}

function readOptions(): { keep: boolean; help: boolean } | undefined {
  try {
    const { values } = parseArgs({
      options: {
        keep: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    return values;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${HELP}`);
    return undefined;
  }
}

process.exit(await main());
