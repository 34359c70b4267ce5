import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Exit, Supervisor } from '../embedded/supervised.ts';

/** The gateway in its own process, started as `npm start` does. */
export interface GatewayProcess {
  /** The public listener. */
  readonly url: string;
  /** The internal listener: metrics, health, admin API. */
  readonly adminUrl: string;
  /** Resolves when the process has ended; never rejects. */
  readonly exited: Promise<Exit>;
  /** The last warnings and errors of its log, and what it wrote to stderr. */
  complaints(): readonly string[];
  /** Sends `SIGTERM`, and `SIGKILL` if that does not end it. Safe to repeat. */
  stop(): Promise<void>;
}

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const COMPLAINTS_MAX = 20;
const WARN_LEVEL = 40;
/** Requests in flight may take 10 s to finish (docs/reference.md, Commands). */
const STOP_MS_MAX = 12_000;

/**
 * Starts the gateway and waits until it listens. @param env its whole environment
 * @throws Error, with the end of its output, if it ends instead
 */
export async function startGatewayProcess(
  env: Readonly<Record<string, string>>,
): Promise<GatewayProcess> {
  const supervisor = new Supervisor({ env: { ...env } });
  const complaints: string[] = [];
  const complain = (line: string) => {
    complaints.push(line);
    if (complaints.length > COMPLAINTS_MAX) complaints.shift();
  };
  const listening = Promise.withResolvers<{ url: string; adminUrl: string }>();
  let adminUrl = '';
  onLines(supervisor.stdout, (line) => {
    const { msg, address, level } = fieldsOf(line);
    if (typeof address === 'string') {
      // The internal listener opens first: it can report that the gateway is still starting.
      if (msg === 'gateway.admin_listening') adminUrl = address;
      if (msg === 'gateway.listening') listening.resolve({ url: address, adminUrl });
    }
    if (typeof level !== 'number' || level >= WARN_LEVEL) complain(line);
  });
  onLines(supervisor.stderr, complain);

  const stop = async (exited: Promise<Exit>, signal: (name: NodeJS.Signals) => void) => {
    signal('SIGTERM');
    const patience = setTimeout(() => signal('SIGKILL'), STOP_MS_MAX);
    await exited;
    clearTimeout(patience);
    await supervisor.close();
  };
  try {
    const child = await supervisor.run({
      file: process.execPath,
      args: [MAIN],
      stopSignal: 'SIGKILL',
    });
    void child.exited.then(() => {
      const words = complaints.slice(-5).join(' | ');
      listening.reject(new Error(`the gateway ended before it listened: ${words}`));
    });
    return {
      ...(await listening.promise),
      exited: child.exited,
      complaints: () => complaints,
      stop: () => stop(child.exited, child.signal),
    };
  } catch (error) {
    await supervisor.close();
    throw error;
  }
}

function onLines(stream: NodeJS.ReadableStream | null, take: (line: string) => void): void {
  if (stream === null) throw new Error('the process has no pipes');
  createInterface({ input: stream }).on('line', take);
}

function fieldsOf(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    // Not a log line: kept unchanged among the complaints.
    return {};
  }
}
