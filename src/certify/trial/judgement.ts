import type { Dialect } from '../../wallets/wallet-config.ts';
import { describeExchange, namesCode } from '../calls/answer-meaning.ts';
import type { RecordedCall, Wanted } from '../calls/recorded-call.ts';
import type { Verdict } from '../certificate/certificate.ts';
import { type FailureMeaning, worstOf } from './failure-meaning.ts';

/** An item of the dialect that a case has tried and that helped. */
export interface TriedItem {
  readonly dialect: Dialect;
  readonly why: string;
}

interface Reason {
  readonly text: string;
  readonly meaning: FailureMeaning;
}

/** A case's findings: expectations of answers, and why they were not met. */
export class Judgement {
  readonly triedItems: TriedItem[] = [];
  readonly #usualMeaning: FailureMeaning;
  readonly #failures: Reason[] = [];
  readonly #warnings: Reason[] = [];
  readonly #remarks: string[] = [];

  /** @param usualMeaning the meaning of failures without one of their own */
  constructor(usualMeaning: FailureMeaning) {
    this.#usualMeaning = usualMeaning;
  }

  get verdict(): Verdict {
    if (this.#failures.length > 0) return 'failed';
    return this.#warnings.length > 0 ? 'warned' : 'passed';
  }
  /** The worst of the findings' meanings; undefined if there are no findings. */
  get meaning(): FailureMeaning | undefined {
    const reasons = this.#failures.length > 0 ? this.#failures : this.#warnings;
    return worstOf(reasons.map(({ meaning }) => meaning));
  }
  get reasons(): readonly string[] {
    const messages = [...this.#failures, ...this.#warnings].map(({ text }) => text);
    return [...new Set([...messages, ...this.#remarks])];
  }
  fail(text: string, meaning: FailureMeaning = this.#usualMeaning): void {
    this.#failures.push({ text, meaning });
  }
  /** What should work does not: nobody is let in by that, whatever the case is about. */
  failToServe(text: string): void {
    this.fail(text, this.#usualMeaning === 'lets_somebody_in' ? 'costs_money' : this.#usualMeaning);
  }
  warn(text: string, meaning: FailureMeaning = 'absorbed'): void {
    this.#warnings.push({ text, meaning });
  }
  remark(text: string): void {
    this.#remarks.push(text);
  }
  /** A dialect item that was tried and helps. */
  tried(item: TriedItem): void {
    this.triedItems.push(item);
  }

  /** The answer must be a success. */
  accepts(recorded: RecordedCall): boolean {
    recorded.wanted = { kind: 'success' };
    if (recorded.answer.kind === 'accepted') return true;
    const { operation, exchange } = recorded;
    this.failToServe(`${operation} should be accepted: ${describeExchange(exchange)}`);
    return false;
  }

  /** The rollback must be confirmed: 200, or code 8 (service protocol, Errors). */
  confirms(recorded: RecordedCall): boolean {
    recorded.wanted = { kind: 'confirmation' };
    const { answer } = recorded;
    if (answer.kind === 'accepted') return true;
    if (answer.kind === 'refused' && answer.code === 8) return true;
    this.fail(`rollback should be confirmed: ${describeExchange(recorded.exchange)}`);
    return false;
  }

  /**
   * The answer must be a refusal.
   * @param codes the proper ones, the best first; another code fails without costing money, or only warns
   */
  refuses(
    recorded: RecordedCall,
    codes: readonly number[],
    other: 'fail' | 'warn' = 'fail',
  ): boolean {
    const wanted: Wanted = { kind: 'refusal', codes };
    // If the code hardly matters, no dialect need translate it.
    recorded.wanted = other === 'fail' ? wanted : { kind: 'refusal', codes: [] };
    const { answer, operation, exchange } = recorded;
    if (answer.kind !== 'refused') {
      const isSilent = answer.kind === 'none';
      const message = `${operation} should be refused: ${describeExchange(exchange)}`;
      // No answer lets nobody in, but enough of them open the breaker for all players.
      if (isSilent && other === 'warn') this.warn(message);
      else this.fail(message, isSilent ? 'costs_money' : undefined);
      return false;
    }
    const { code } = answer;
    if (code === undefined || codes.includes(code)) return true;
    // The code is the dialect's for the status: the wallet itself sent none that could be wrong.
    if (other === 'warn' && !namesCode(exchange)) return true;
    const reason = `${operation} was refused with code ${code} instead of ${codes.join(' or ')}`;
    if (other === 'fail') this.fail(reason, 'absorbed');
    else this.warn(reason, 'cosmetic');
    return true;
  }
}
