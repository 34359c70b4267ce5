#!/usr/bin/env node
import { run } from './run.ts';
import { Terminal } from './terminal.ts';

// `wagergate ... | head`: whoever read has seen enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

process.exitCode = await run(process.argv.slice(2), new Terminal(process));
