import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { unreachable } from '../../src/domain/unreachable.ts';
import { logFileIn } from './log-file.ts';

/**
 * A small process between us and a server. When its parent ends, for whatever reason, the channel closes: then the
 * server is stopped and its folder (the argument) removed. Speaks `Request` and `Report`.
 */

/** A command to run under supervision; one at a time. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  /** Runs as this user instead of the parent's. */
  readonly user?: User | undefined;
  /** The signal that ends it at once when the parent is gone; `SIGKILL` follows if it does not. */
  readonly stopSignal: NodeJS.Signals;
}

export interface User {
  readonly uid: number;
  readonly gid: number;
}

export type Request =
  | { readonly kind: 'run'; readonly command: Command }
  | { readonly kind: 'signal'; readonly signal: NodeJS.Signals }
  | { readonly kind: 'leave' };

export type Report =
  | { readonly kind: 'started'; readonly pid: number }
  | { readonly kind: 'refused'; readonly code: string; readonly reason: string }
  | { readonly kind: 'exited'; readonly exit: Exit };

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const STOP_PATIENCE_MS = 3_000;

const folder = process.argv[2];

/** The running command; `ended` resolves when it has been reaped. */
let running: { child: ChildProcess; stopSignal: NodeJS.Signals; ended: Promise<void> } | undefined;
let leaving = false;

function report(message: Report): void {
  // `disconnect` reports that the parent is gone; a failed message must not end this process before that.
  if (process.connected) process.send?.(message, () => undefined);
}

function run({ file, args, user, stopSignal }: Command): void {
  const output = folder === undefined ? 'inherit' : openSync(logFileIn(folder), 'a');
  const child = spawn(file, args, { stdio: ['ignore', output, output], ...user });
  if (typeof output === 'number') closeSync(output);
  const ended = new Promise<void>((resolve) => {
    child.once('spawn', () => {
      if (child.pid !== undefined) report({ kind: 'started', pid: child.pid });
    });
    child.once('error', (error: NodeJS.ErrnoException) => {
      running = undefined;
      report({ kind: 'refused', code: error.code ?? '', reason: error.message });
      resolve();
    });
    child.once('exit', (code, signal) => {
      running = undefined;
      report({ kind: 'exited', exit: { code, signal } });
      resolve();
    });
  });
  running = { child, stopSignal, ended };
}

async function leave(): Promise<void> {
  if (leaving) return;
  leaving = true;
  if (running !== undefined) {
    const { child, stopSignal, ended } = running;
    child.kill(stopSignal);
    const impatience = setTimeout(() => child.kill('SIGKILL'), STOP_PATIENCE_MS);
    await ended;
    clearTimeout(impatience);
  }
  // The children of a killed PostgreSQL may write for a moment longer: hence the retries.
  if (folder !== undefined) await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  process.exit(0);
}

process.on('message', (request: Request) => {
  if (leaving) return;
  switch (request.kind) {
    case 'run':
      return run(request.command);
    case 'signal':
      return void running?.child.kill(request.signal);
    case 'leave':
      return void leave();
    default:
      return unreachable(request);
  }
});
process.on('disconnect', () => void leave());
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => void leave());
}
// The parent may be gone before this line runs.
if (!process.connected) void leave();
