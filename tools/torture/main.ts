import { HELP, type Options, readOptions } from './run/options.ts';
import { cameText, commandFor } from './run/report.ts';
import { run } from './run/run.ts';

async function main(): Promise<number> {
  let options: Options;
  try {
    options = readOptions(process.argv.slice(2));
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return 2;
  }
  if (options.help) {
    console.log(HELP);
    return 0;
  }
  const startedAtMs = performance.now();
  const { played, walletCalls, undecided, failures, came } = await run(options, console.log);
  if (came.size > 0) console.log(`faults that hit something: ${cameText(came)}`);
  const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(0);
  console.log(
    `${played} histories, ${walletCalls} wallet calls, ${undecided} bets left to a person, ${failures.length} failures, ${seconds} s`,
  );
  for (const failure of failures) {
    console.log(`again: ${commandFor(failure, options.steps)}`);
  }
  return failures.length === 0 ? 0 : 1;
}

// Everything is closed by now; a handle that a library has left open would keep the process alive for ever.
process.exit(await main());
