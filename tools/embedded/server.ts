import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeServerFolder, type ServerFolder } from './folder.ts';
import { logFileIn } from './log-file.ts';
import { type Command, type SupervisedProcess, Supervisor } from './supervised.ts';

/** A private database server on 127.0.0.1 with its data in a temporary folder. */
export interface EmbeddedServer {
  readonly url: string;
  readonly port: number;
  /** The server's current process id; `restart` changes it. */
  readonly pid: number;
  /** Stops the server and removes its data; resolves when both are done. Safe to repeat. */
  stop(): Promise<void>;
  /** Sends a signal, by default `SIGKILL`, and waits until the server has ended. `SIGSTOP` freezes it. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts the server again on the same port and data, after an orderly shutdown if it is running. */
  restart(): Promise<void>;
}

export interface ServerPlan {
  /** For error messages. */
  readonly name: string;
  readonly folder: ServerFolder;
  /** Runs once, after the folder is created and before the first start. */
  prepare?(runToEnd: (command: Command) => Promise<void>): Promise<void>;
  command(port: number): Command;
  url(port: number): string;
  /** Whether the server with this pid, and not another one on that port, accepts connections. */
  isReady(port: number, pid: number): Promise<boolean>;
  /** The signal with which `restart` ends a running server. */
  readonly restartSignal: NodeJS.Signals;
}

/** The server ended before it accepted connections; the message contains the end of its log. */
class StartFailure extends Error {
  readonly log: string;

  constructor(name: string, log: string) {
    super(`${name} did not start: ${log.trim().split('\n').slice(-5).join(' | ')}`);
    this.log = log;
  }
}

const READY_MS_MAX = 60_000;
const READY_POLL_MS = 15;
const RESTART_MS_MAX = 10_000;
const PORT_TRIES = 10;

/**
 * Starts a server as planned, on a free port. @throws CommandRefused if the program cannot be started
 * @throws Error if the server does not become ready; nothing is left behind then
 */
export async function startServer(plan: ServerPlan): Promise<EmbeddedServer> {
  const supervisor = new Supervisor({ folder: plan.folder.path });
  const launcher = new Launcher(plan, supervisor);
  try {
    await makeServerFolder(plan.folder);
    await launcher.prepare();
    const port = await launcher.launchSomewhere();
    return {
      url: plan.url(port),
      port,
      get pid() {
        return launcher.process.pid;
      },
      stop: () => supervisor.close(),
      kill: (signal) => launcher.kill(signal ?? 'SIGKILL'),
      restart: () => launcher.relaunch(port),
    };
  } catch (error) {
    await supervisor.close();
    throw error;
  }
}

class Launcher {
  readonly #plan: ServerPlan;
  readonly #supervisor: Supervisor;
  #process: SupervisedProcess | undefined;

  constructor(plan: ServerPlan, supervisor: Supervisor) {
    this.#plan = plan;
    this.#supervisor = supervisor;
  }

  get process(): SupervisedProcess {
    if (this.#process === undefined) throw new Error(`${this.#plan.name} was never started`);
    return this.#process;
  }

  async prepare(): Promise<void> {
    await this.#plan.prepare?.(async (command) => {
      const logged = await this.#log();
      const { exited } = await this.#supervisor.run(command);
      if ((await exited).code !== 0) throw await this.#failureSince(logged);
    });
  }

  /** A free port may be taken before the server binds it: then another one is tried. */
  async launchSomewhere(): Promise<number> {
    for (let tries = 1; ; tries++) {
      const port = await freePort();
      try {
        await this.#launch(port);
        return port;
      } catch (error) {
        const portTaken =
          error instanceof StartFailure && /address already in use/i.test(error.log);
        if (!portTaken || tries === PORT_TRIES) throw error;
      }
    }
  }

  /** Waits until a killed server's children have let go of its shared memory. */
  async relaunch(port: number): Promise<void> {
    await this.kill(this.#plan.restartSignal);
    const giveUpAtMs = performance.now() + RESTART_MS_MAX;
    for (;;) {
      try {
        return await this.#launch(port);
      } catch (error) {
        const passing = error instanceof StartFailure && /in use/i.test(error.log);
        if (!passing || performance.now() > giveUpAtMs) throw error;
        await sleep(READY_POLL_MS);
      }
    }
  }

  async kill(signal: NodeJS.Signals): Promise<void> {
    this.process.signal(signal);
    if (signal === 'SIGSTOP') await standsStill(this.process.pid);
    else if (signal !== 'SIGCONT') await this.process.exited;
  }

  async #launch(port: number): Promise<void> {
    const logged = await this.#log();
    const launched = await this.#supervisor.run(this.#plan.command(port));
    this.#process = launched;
    let ended = false;
    void launched.exited.then(() => {
      ended = true;
    });
    const giveUpAtMs = performance.now() + READY_MS_MAX;
    while (!(await this.#plan.isReady(port, launched.pid))) {
      if (ended) throw await this.#failureSince(logged);
      if (performance.now() > giveUpAtMs) {
        await this.kill('SIGKILL');
        throw await this.#failureSince(logged);
      }
      await sleep(READY_POLL_MS);
    }
  }

  async #log(): Promise<string> {
    return readFile(logFileIn(this.#plan.folder.path), 'utf8').catch(() => '');
  }

  async #failureSince(logged: string): Promise<StartFailure> {
    return new StartFailure(this.#plan.name, (await this.#log()).slice(logged.length));
  }
}

/** A free port below the ranges from which systems pick local ports, so that a restart finds it free. */
async function freePort(): Promise<number> {
  for (let tries = 1; ; tries++) {
    const port = 12_000 + Math.floor(Math.random() * 20_000);
    const probe = createServer();
    try {
      probe.listen(port, '127.0.0.1');
      await once(probe, 'listening');
      return port;
    } catch (error) {
      if (tries === 100) throw error;
    } finally {
      probe.close();
    }
  }
}

const STOPPED_MS_MAX = 5_000;
const STOPPED_POLL_MS = 5;

/** A signal goes through the supervisor, and takes effect when the process is next scheduled. */
async function standsStill(pid: number): Promise<void> {
  const giveUpAtMs = performance.now() + STOPPED_MS_MAX;
  while (performance.now() < giveUpAtMs) {
    // Empty without /proc, or if the process is gone: then nobody can tell.
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    if (stat === '' || stat.slice(stat.lastIndexOf(')')).startsWith(') T')) return;
    await sleep(STOPPED_POLL_MS);
  }
}
