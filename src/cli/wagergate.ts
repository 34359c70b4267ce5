#!/usr/bin/env node
/** A signal whose default is to end a process, but not the first process of a container. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

// Before anything is imported, which takes a moment. A command that ends in an order of its own
// listens itself.
for (const [signal, code] of Object.entries(EXIT_CODES)) {
  process.on(signal, () => {
    if (process.listenerCount(signal) === 1) process.exit(code);
  });
}

// `wagergate ... | head`: whoever read has seen enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

const { run } = await import('./run.ts');
const { Terminal } = await import('./terminal.ts');

process.exitCode = await run(process.argv.slice(2), new Terminal(process));
