#!/usr/bin/env node
// Plain JavaScript, because an older Node stops at a TypeScript file before it runs a line of it.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const NODE_MAJOR_MIN = 24;

const program = new URL('wagergate.ts', import.meta.url);
const installedNode = fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url));

if (Number.parseInt(process.versions.node, 10) >= NODE_MAJOR_MIN) {
  await import(program.href);
} else if (existsSync(installedNode)) {
  runBy(installedNode);
} else {
  process.stderr.write(
    `error: wagergate needs Node ${NODE_MAJOR_MIN} or newer, this is ${process.version}: ` +
      'install it, or run `npm ci`, which brings one along\n',
  );
  process.exitCode = 1;
}

/** @param {string} node */
function runBy(node) {
  const child = spawn(node, [fileURLToPath(program), ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  // A terminal's Ctrl-C reaches both of us; what is sent to this process alone is handed on.
  const signals = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);
  for (const signal of signals) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    process.stderr.write(`error: ${node} cannot be run: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    if (signal === null) {
      process.exitCode = code ?? 1;
      return;
    }
    for (const handled of signals) process.removeAllListeners(handled);
    process.kill(process.pid, signal);
  });
}
