import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'bullmq';

/** Before a Redis that refuses is asked for work again. */
const REFUSED_MS = 500;

/**
 * BullMQ asks again at once where Redis answers with an error, as one that is full or a replica does: thousands
 * of times a second, for as long as that lasts.
 */
export class PatientWorker extends Worker {
  #asked = 0;

  /** How many times it has asked for work: every few seconds one more, where nothing is being worked on. */
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
