import { askForSame } from '../domain/asked.ts';
import type { Bet } from '../domain/bet.ts';
import type { Deadline } from '../domain/deadline.ts';
import type { ResultDecision, RollbackDecision } from '../domain/decide.ts';
import { GatewayError } from '../domain/errors.ts';
import { inFirstCurrency } from '../domain/terms.ts';
import { unreachable } from '../domain/unreachable.ts';
import { OutOfTime, within } from '../lib/within.ts';
import { type Answer, accepted, failure } from '../protocol/answers.ts';
import { type BetRequest, parseBet } from '../protocol/messages.ts';
import type { Handled } from './answers.ts';
import { answerConflict, answerDuplicate, unavailable, unnamedPlayer } from './answers.ts';
import type { Callbacks } from './callbacks.ts';
import { ANOTHER_PLAYERS, locate } from './find-bet.ts';

/** The bet of an operation, or its answer if that needs no wallet. */
export type Found =
  | { readonly kind: 'bet'; readonly bet: Bet }
  /** Neither the bet nor the player is known. */
  | { readonly kind: 'nobody' }
  | { readonly kind: 'answered'; readonly handled: Handled };

/** Decisions that every operation answers the same way. */
type KnownDecision = Extract<
  ResultDecision | RollbackDecision,
  { kind: 'repeat' | 'repeatRefusal' | 'conflict' | 'unresolved' }
>;

/** A settle, unsettle, rollback or update during its callback, with the answers that all operations share. */
export class BetCallback<M extends BetRequest = BetRequest> {
  readonly callbacks: Callbacks;
  readonly message: M;
  /** The message for the journal: with the hash of its token. */
  readonly stored: Buffer;
  readonly deadline: Deadline;
  /** How often the bet has been read. */
  #looks = 0;
  /** The attempt of the same operation that this copy waits for. */
  #joined: string | undefined;

  constructor(callbacks: Callbacks, message: M, stored: Buffer, deadline: Deadline) {
    this.callbacks = callbacks;
    this.message = message;
    this.stored = stored;
    this.deadline = deadline;
  }

  get transactionId(): string {
    return this.message.transactionId;
  }

  /** The present bet; for a copy that has waited, the first one's answer. @throws GatewayError if the journal fails */
  async find(): Promise<Found> {
    this.#looks += 1;
    const located = await locate(this.callbacks, this.message);
    if (located.kind === 'nobody') return { kind: 'nobody' };
    if (located.kind === 'unnamed') return { kind: 'answered', handled: unnamedPlayer() };
    if (located.kind === 'foreign') {
      return { kind: 'answered', handled: this.conflict(located.operatorId, ANOTHER_PLAYERS) };
    }
    const bet = inFirstCurrency(located.bet, this.message.operation, this.message);
    const joined = this.#joined;
    if (joined === undefined || bet.busy?.attemptId === joined) return { kind: 'bet', bet };
    this.#joined = undefined;
    const first = await answerOfFirst(this.callbacks, this.message, joined);
    if (first === undefined) return { kind: 'bet', bet };
    return { kind: 'answered', handled: this.repeated(bet, first) };
  }

  /** Runs `step` with the bet, again after each change. @throws GatewayError of the journal; whatever `step` throws */
  async handle(
    step: (found: Exclude<Found, { kind: 'answered' }>) => Promise<Handled | 'moved'>,
  ): Promise<Handled> {
    for (;;) {
      const found = await this.find();
      if (found.kind === 'answered') return found.handled;
      const handled = await step(found);
      if (handled !== 'moved') return handled;
    }
  }

  /** Waits for the operation in flight. @returns false if the deadline leaves no time for that */
  async wait(bet: Bet): Promise<boolean> {
    if (bet.busy?.operation === this.message.operation) this.#joined = bet.busy.attemptId;
    return await this.callbacks.changes.next(this.transactionId, this.deadline, this.#looks - 1);
  }

  /**
   * Reads the bet once more for a copy without time to wait: the first request's answer is better than a promise.
   * @returns `bet` if the journal does not answer within half of the remaining time
   */
  async lastLook(bet: Bet): Promise<Found> {
    try {
      return await within(this.deadline.answerMs() / 2, this.find());
    } catch (error) {
      if (error instanceof OutOfTime || error instanceof GatewayError) return { kind: 'bet', bet };
      throw error;
    }
  }

  /**
   * The first request's answer, after one last read of the bet.
   * @param repeatOf the decision for a copy of an answered operation
   * @returns undefined if the first request is only promised so far
   */
  async firstByNow(
    bet: Bet,
    repeatOf: (now: Bet) => KnownDecision | undefined,
  ): Promise<Handled | undefined> {
    const found = await this.lastLook(bet);
    if (found.kind === 'answered') return found.handled;
    const now = found.kind === 'bet' ? found.bet : bet;
    const repeat = repeatOf(now);
    return repeat && this.answerKnown(now, repeat);
  }

  /** The answer to a decision that needs no wallet. */
  answerKnown(bet: Bet, decision: KnownDecision): Handled {
    switch (decision.kind) {
      case 'repeat':
        return this.repeated(bet, accepted(bet.transactionId, decision.transactionTime));
      case 'repeatRefusal':
        return this.repeated(bet, failure(decision.code, decision.message));
      case 'conflict':
        return this.conflict(bet.owner?.operatorId, decision.why);
      case 'unresolved':
        return this.#unresolved(bet.owner?.operatorId);
      default:
        return unreachable(decision);
    }
  }

  repeated(bet: Bet, answer: Answer): Handled {
    const { operation } = this.message;
    const source = this.#looks > 1 ? 'in_flight' : 'journal';
    const operatorId = bet.owner?.operatorId;
    return answerDuplicate(this.callbacks, { operation, operatorId }, source, answer);
  }

  conflict(operatorId: string | undefined, why: string): Handled {
    const { operation, transactionId } = this.message;
    return answerConflict(this.callbacks, { operation, operatorId, transactionId }, why);
  }

  /** The bet may never have been debited: neither paying out nor refusing is right. */
  #unresolved(operatorId: string | undefined): Handled {
    const { message, transactionId } = this;
    this.callbacks.logger.error(
      {
        operator: operatorId,
        operation: message.operation,
        transactionId,
        why: 'the service settles a bet whose place was answered 100',
      },
      'bet.result_for_unknown_place',
    );
    return unavailable('unknown', operatorId, { reason: 'place_unknown' });
  }
}

/**
 * The answer to an operation that its copy waited for (docs/reference.md, Callbacks: a copy "waits for the first and
 * gives its answer"). Only for a refused or undelivered one: the bet's state answers for an accepted one.
 * @param attemptId of the operation that the copy waited for
 * @returns undefined if that was another operation, or has no recorded answer
 * @throws GatewayError `DATABASE_UNAVAILABLE`
 */
export async function answerOfFirst(
  { bets }: Callbacks,
  message: BetRequest,
  attemptId: string,
): Promise<Answer | undefined> {
  const { transactionId } = message;
  const recorded = await bets.answerOf({ transactionId, attemptId });
  if (recorded?.answer === undefined) return undefined;
  const first = parseBet('PUT', recorded.body);
  return first.ok && askForSame(first.message, message) ? recorded.answer : undefined;
}
