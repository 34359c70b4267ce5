import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Entrance } from '../deployment/deployment.ts';
import type { BetMove, Copy, Step } from '../plan/plan.ts';
import { FIRST_RETRY_MS, RETRIES_MAX, RETRY_FACTOR, RETRY_MS_MAX } from '../settings.ts';
import type { Story } from '../story.ts';
import { type Message, messageOf } from './messages.ts';
import type { BetRecord, Send } from './record.ts';

/** How often a result is repeated before it counts as never answered. */
const SETTLE_REPEATS_MAX = 40;
/** The service publishes neither number nor interval of its repeats of results. */
const RESULT_RETRY_MS_MAX = 1_200;
/** Rollback errorCode for technical problems on the partner's side. */
const PARTNER_FAILED = 52;
const SYSTEM_ERROR = 100;
const ISO_8601_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)$/;

export interface ServiceOptions {
  readonly entrances: readonly Entrance[];
  readonly story: Story;
  /** Ends the player's session, as the operator does. */
  readonly endSession: (record: BetRecord) => Promise<void>;
  readonly isOver: () => boolean;
}

/** The betting service: plays bets as planned and follows the documented rules of repeating. */
export class Service {
  readonly #options: ServiceOptions;

  constructor(options: ServiceOptions) {
    this.#options = options;
  }

  /** Plays one bet to the end of its plan. Never rejects because of the gateway. */
  async live(record: BetRecord): Promise<void> {
    const running: Promise<void>[] = [];
    for (const step of record.plan.steps) {
      // Only rollbacks and updates come alongside: two results of a bet are never under way together.
      if (!step.isAlongside) await Promise.all(running.splice(0));
      await sleep(step.pauseMs);
      const { kind } = step.move;
      if (kind !== 'place' && record.standing !== 'accepted') continue;
      if (record.unanswered.length > 0) break;
      // Rolled back: no result follows.
      const isResult = kind === 'settle' || kind === 'unsettle';
      if (isResult && record.rolledBackFromMs !== undefined) continue;
      const carried = this.#carryOut(record, step);
      running.push(carried);
      if (kind === 'place') await carried;
    }
    await Promise.all(running);
  }

  async #carryOut(record: BetRecord, step: Step): Promise<void> {
    const { move } = step;
    switch (move.kind) {
      case 'endSession':
        record.sessionEndedFromMs ??= performance.now();
        return await this.#options.endSession(record);
      case 'place':
        return await this.#place(record, step);
      case 'settle':
      case 'unsettle':
      case 'update':
        return await this.#repeat(record, step, move);
      case 'rollback':
        return await this.#rollBack(record, step, move);
    }
  }

  /** Sent once; anything but a definite answer is rolled back (service protocol, States). */
  async #place(record: BetRecord, step: Step): Promise<void> {
    const move = { kind: 'place' } as const;
    const message = this.#message(record, move, record.plan.stake);
    const others: Promise<unknown>[] = [];
    // Two copies may be answered 200 and 100; a service that forgets its rollback must have asked only once.
    if (!record.plan.isForgotten) others.push(...this.#copies(record, step, message, ['twin']));
    const sent = await this.#send(record, step.id, move, message, 'first', step.via);
    // A place that never reached PostgreSQL is new when it is repeated. Replays may come after anything else.
    if (sent.isConfirmed || !record.plan.isForgotten) this.#replays(record, step, message);
    // Only for a bet that is certainly known: otherwise nobody could tell which of the two is wrong.
    if (sent.isConfirmed) {
      others.push(...this.#copies(record, step, message, ['conflict']));
    }
    const settled = Promise.all(others);
    if (sent.isConfirmed) {
      record.standing = 'accepted';
    } else if (sent.status === 400 && sent.code !== undefined && sent.code !== SYSTEM_ERROR) {
      record.standing = 'declined';
    } else if (record.plan.isForgotten && sent.status === 400) {
      record.isLeftToGateway = true;
      this.#options.story.tell('service', record.plan.id, 'forgets to roll the place back');
    } else {
      const rollback = { kind: 'rollback', errorCode: PARTNER_FAILED } as const;
      await this.#rollBack(record, { ...step, id: `${step.id}.r`, copies: [] }, rollback);
    }
    await settled;
  }

  async #rollBack(record: BetRecord, step: Step, move: BetMove): Promise<void> {
    record.rolledBackFromMs ??= performance.now();
    await this.#repeat(record, step, move);
  }

  /** Repeats until a definite answer comes; each send has a `requestId` of its own. */
  async #repeat(record: BetRecord, step: Step, move: BetMove): Promise<void> {
    const isResult = move.kind === 'settle' || move.kind === 'unsettle';
    const repeatsMax = isResult ? SETTLE_REPEATS_MAX : RETRIES_MAX;
    const twins: Promise<unknown>[] = [];
    let counted = 0;
    for (let n = 0; counted <= repeatsMax && !this.#options.isOver(); n += 1) {
      const message = this.#message(record, move, record.paid);
      if (n === 0) twins.push(...this.#copies(record, step, message, ['twin']));
      const kind = n === 0 ? 'first' : 'repeat';
      const sent = await this.#send(record, step.id, move, message, kind, step.via + n);
      if (sent.isConfirmed || sent.status === 400) {
        // Copies under way must not meet the next operation.
        await Promise.all(twins);
        this.#believe(record, move, sent);
        if (sent.isConfirmed) {
          await Promise.all(this.#copies(record, step, message, ['again']));
        }
        // Only an answered request is replayed: nobody knows what another one would do.
        void this.#replays(record, step, message);
        return;
      }
      // Nobody was there: the start of a process is not compressed like the other times.
      if (sent.failure !== 'connection') counted += 1;
      const longestMs = isResult ? RESULT_RETRY_MS_MAX : RETRY_MS_MAX;
      await sleep(Math.min(longestMs, FIRST_RETRY_MS * RETRY_FACTOR ** n));
    }
    await Promise.all(twins);
    record.unanswered.push(`${move.kind} (${step.id})`);
  }

  readonly #running = new Set<Promise<unknown>>();

  /** Resolves when nothing is under way any more. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #replays(record: BetRecord, step: Step, message: Message): void {
    for (const replay of this.#copies(record, step, message, ['replay'])) {
      this.#running.add(replay);
      void replay.finally(() => this.#running.delete(replay));
    }
  }

  #copies(
    record: BetRecord,
    step: Step,
    message: Message,
    kinds: readonly Copy['kind'][],
  ): Promise<Send>[] {
    const { move } = step;
    if (move.kind === 'endSession') return [];
    return step.copies
      .filter(({ kind }) => kinds.includes(kind))
      .map(async (copy) => {
        await sleep(copy.afterMs);
        const copied = copyOf(message, copy.kind, record.plan.stake);
        return await this.#send(record, step.id, move, copied, copy.kind, copy.via);
      });
  }

  #message(record: BetRecord, move: BetMove, paid: string): Message {
    const { plan, transactionId, player } = record;
    return messageOf(move, plan, { transactionId, requestId: randomUUID(), player }, paid);
  }

  #believe(record: BetRecord, move: BetMove, sent: Send): void {
    const isGone = record.standing === 'rolledBack';
    switch (move.kind) {
      case 'settle':
        if (!sent.isConfirmed || isGone) return;
        record.paid = move.amount;
        return;
      case 'unsettle':
        if (!sent.isConfirmed || isGone) return;
        record.paid = '0';
        return;
      case 'rollback':
        record.standing = 'rolledBack';
        record.paid = '0';
        return;
      case 'place':
      case 'update':
        return;
    }
  }

  async #send(
    record: BetRecord,
    step: string,
    move: BetMove,
    message: Message,
    kind: Send['kind'],
    via: number,
  ): Promise<Send> {
    const { entrances, story } = this.#options;
    const entrance = via % entrances.length;
    const { client } = entrances[entrance] ?? {};
    if (client === undefined) throw new Error('a deployment has an entrance');
    const { plan, transactionId } = record;
    const what = `${move.kind}${'amount' in move ? ` ${move.amount} ${move.resultType}` : ''}`;
    const label = `${what} [${kind} of ${step}, request ${message.requestId.slice(0, 8)}]`;
    story.tell('service', plan.id, `sends ${label} to address ${entrance}`);
    const atMs = performance.now();
    const result = await client.call(message.method, '/payment/bet', message.body);
    const code = result.json?.code;
    const time = result.json?.transactionTime;
    const sent: Send = {
      step,
      operation: move.kind,
      kind,
      requestId: message.requestId,
      atMs,
      endedAtMs: performance.now(),
      status: result.status,
      code: typeof code === 'number' ? code : undefined,
      body: result.body,
      failure: result.failure,
      isConfirmed:
        result.status === 200 &&
        result.json?.transactionId === transactionId &&
        typeof time === 'string' &&
        ISO_8601_UTC.test(time),
    };
    record.sends.push(sent);
    const outcome = result.failure ?? `${result.status} ${result.body.slice(0, 120)}`;
    story.tell('service', plan.id, `  is told of ${label}: ${outcome}`);
    return sent;
  }
}

/** The message as a copy of this kind sends it. */
function copyOf(message: Message, kind: Copy['kind'], stake: string): Message {
  switch (kind) {
    case 'twin':
    case 'replay':
      return message;
    case 'conflict': {
      const body = message.body.replace(`"amount":${stake}`, `"amount":1${stake}`);
      return { ...message, body };
    }
    case 'again': {
      const requestId = randomUUID();
      return { ...message, requestId, body: message.body.replace(message.requestId, requestId) };
    }
  }
}
