import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'bullmq';

/** Pause before a Redis that answered with an error is asked for work again. */
const REFUSED_MS = 500;

/**
 * A BullMQ worker that pauses after an error from Redis, such as a full one or a replica: BullMQ itself would ask
 * again thousands of times a second.
 */
export class PatientWorker extends Worker {
  #asked = 0;

  /** How often it has asked for work; while idle, this grows every few seconds. */
  get asked(): number {
    return this.#asked;
  }

  protected override async moveToActive(...asked: Parameters<Worker['moveToActive']>) {
    this.#asked += 1;
    try {
      return await super.moveToActive(...asked);
    } catch (error) {
      if (this.closing === undefined) await sleep(REFUSED_MS, undefined, { ref: false });
      throw error;
    }
  }
}
