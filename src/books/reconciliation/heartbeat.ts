import { GatewayError } from '../../domain/errors.ts';
import { Incomparable } from './incomparable.ts';

const EVERY_MS = 2_000;

/** Says again and again that a run is alive; one that is silent for a minute is taken for gone, and failed. */
export class Heartbeat {
  readonly #say: () => Promise<boolean>;
  readonly #timer: NodeJS.Timeout;
  #isTakenForGone = false;
  #failure: Error | undefined;

  /** @param say puts it on record; false: the run was taken for gone */
  constructor(say: () => Promise<boolean>) {
    this.#say = say;
    this.#timer = setInterval(() => void this.beat(), EVERY_MS);
    this.#timer.unref();
  }

  /** Never rejects: what fails is thrown by `check`. */
  async beat(): Promise<void> {
    try {
      if (!(await this.#say())) this.#isTakenForGone = true;
    } catch (error) {
      // Repeated soon; a process that cannot repeat it for a minute is taken for gone.
      if (error instanceof GatewayError) return;
      this.#failure ??= error instanceof Error ? error : new Error(String(error));
    }
  }

  /** @throws Incomparable when the run was taken for gone; whatever else keeps it from going on */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#isTakenForGone) throw takenForGone();
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

export function takenForGone(): Incomparable {
  return new Incomparable('it was silent for too long and taken for gone: send the list again');
}
