import { GatewayError } from '../../domain/errors.ts';
import { Incomparable } from './incomparable.ts';

const EVERY_MS = 2_000;

/** Records regularly that a run is alive; a run silent for a minute counts as lost and is marked failed. */
export class Heartbeat {
  readonly #say: () => Promise<boolean>;
  readonly #timer: NodeJS.Timeout;
  #isTakenForGone = false;
  #failure: Error | undefined;

  /** @param say records the heartbeat; returns false if the run has already been marked as lost */
  constructor(say: () => Promise<boolean>) {
    this.#say = say;
    this.#timer = setInterval(() => void this.beat(), EVERY_MS);
    this.#timer.unref();
  }

  /** Never rejects; `check` throws the failure. */
  async beat(): Promise<void> {
    try {
      if (!(await this.#say())) this.#isTakenForGone = true;
    } catch (error) {
      // Repeated soon. A process that cannot record it for a minute counts as lost.
      if (error instanceof GatewayError) return;
      this.#failure ??= error instanceof Error ? error : new Error(String(error));
    }
  }

  /** @throws Incomparable if the run was marked as lost; otherwise any error of a heartbeat */
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
