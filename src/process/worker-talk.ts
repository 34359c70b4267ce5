import type { Worker } from 'node:cluster';
import type { InForce } from '../config/in-force.ts';
import type { Problem } from '../config/problems.ts';
import { OutOfTime, within } from '../lib/within.ts';
import type { Snapshot } from '../telemetry/snapshot.ts';

/** A worker process sends it every second. */
export const ALIVE = 'alive';

/** A worker process asks its parent for the configuration in force and the database. */
export const ASK_PARENT = 'inForce';

export interface KnownAtParent {
  readonly inForce: InForce;
  readonly databaseId: string;
}

/** The parent's questions to a worker process, with the types of their answers. */
interface Answers {
  readonly metrics: Snapshot;
  /** Reloads the configuration; the answer lists its problems, once the valid part is in force. */
  readonly reload: readonly Problem[];
}
type Question = keyof Answers;

interface Asked {
  readonly asked: Question;
  /** The answer carries the same number. */
  readonly number: number;
}

interface Answered<Q extends Question> {
  readonly answered: number;
  readonly answer: Answers[Q];
}

let asked = 0;

/** @returns the answer; `late` if there is none after `limitMs`, `ended` if the process has ended */
export async function ask<Q extends Question>(
  worker: Worker,
  question: Q,
  limitMs: number,
): Promise<Answers[Q] | 'late' | 'ended'> {
  asked += 1;
  const number = asked;
  const { promise, resolve } = Promise.withResolvers<Answers[Q] | 'ended'>();
  const hear = (message: unknown) => {
    if (isAnswerTo<Q>(message, number)) resolve(message.answer);
  };
  const end = () => resolve('ended');
  worker.on('message', hear);
  worker.once('exit', end);
  const asking: Asked = { asked: question, number };
  // The pipe breaks a moment before the exit is known.
  worker.send(asking, () => undefined);
  try {
    return await within(limitMs, promise);
  } catch (error) {
    if (error instanceof OutOfTime) return 'late';
    throw error;
  } finally {
    worker.off('message', hear);
    worker.off('exit', end);
  }
}

/** In a worker process: answers its parent's questions. */
export function answerParent(
  answers: { readonly [Q in Question]: () => Promise<Answers[Q]> },
): void {
  process.on('message', (message: unknown) => {
    if (!isAsked(message)) return;
    void answers[message.asked]().then((answer) =>
      process.send?.({ answered: message.number, answer }),
    );
  });
}

export function isDescriptorsMessage(message: unknown): message is { hasDescriptors: boolean } {
  return isObject(message) && 'hasDescriptors' in message;
}

export function isCannotStartMessage(message: unknown): message is { cannotStart: string } {
  return isObject(message) && 'cannotStart' in message;
}

export function isKnownMessage(message: unknown): message is KnownAtParent {
  return isObject(message) && 'inForce' in message;
}

function isAsked(message: unknown): message is Asked {
  return isObject(message) && 'asked' in message;
}

function isAnswerTo<Q extends Question>(message: unknown, number: number): message is Answered<Q> {
  return isObject(message) && 'answered' in message && message.answered === number;
}

function isObject(message: unknown): message is object {
  return typeof message === 'object' && message !== null;
}
