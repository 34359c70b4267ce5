#!/usr/bin/env node
/** Signals that end a process by default, but not the first process of a container. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

// Before anything is imported, which takes a moment. A command with work to finish listens itself.
for (const [signal, code] of Object.entries(EXIT_CODES)) {
  process.on(signal, () => {
    if (process.listenerCount(signal) === 1) process.exit(code);
  });
}

const { prepareForSlowNames } = await import('../lib/thread-pool.ts');
prepareForSlowNames(process.env);
const { run } = await import('./run.ts');
const { Terminal } = await import('./terminal.ts');

const terminal = new Terminal(process);
const code = await run(process.argv.slice(2), terminal);
process.exitCode = code;
// A network that swallows the end of a connection would keep this process for a quarter of an hour.
setInterval(() => {
  if (terminal.isWritten) process.exit();
}, 2_000).unref();
// Writing the last lines may fail as late as this.
process.on('exit', () => {
  if (terminal.whyLost === undefined) return;
  if (code === 0) process.exitCode = 1;
  // Otherwise a redirected export would be cut off without a word.
  terminal.tell(`error: not all of the output could be written: ${terminal.whyLost}`);
});
