import type { Dialect } from '../wallets/wallet-config.ts';
import { describeExchange } from './answer-meaning.ts';
import type { Verdict } from './certificate.ts';
import type { Sighting, Wanted } from './recorded-call.ts';

/** An item of the dialect that a case found by trying it. */
export interface Finding {
  readonly dialect: Dialect;
  readonly why: string;
}

/** What a case finds: expectations of answers, and why they were not met. */
export class Judgement {
  readonly findings: Finding[] = [];
  readonly #failures: string[] = [];
  readonly #warnings: string[] = [];
  readonly #remarks: string[] = [];

  get verdict(): Verdict {
    if (this.#failures.length > 0) return 'failed';
    return this.#warnings.length > 0 ? 'warned' : 'passed';
  }
  get reasons(): readonly string[] {
    const all = [...this.#failures, ...this.#warnings, ...this.#remarks];
    return [...new Set(all)];
  }
  fail(reason: string): void {
    this.#failures.push(reason);
  }
  warn(reason: string): void {
    this.#warnings.push(reason);
  }
  remark(reason: string): void {
    this.#remarks.push(reason);
  }
  /** A dialect item that was tried and helps. */
  found(finding: Finding): void {
    this.findings.push(finding);
  }

  /** The answer has to be a success. */
  accepts(sighting: Sighting): boolean {
    sighting.wanted = { kind: 'success' };
    if (sighting.meaning.kind === 'accepted') return true;
    this.fail(`${sighting.operation} should be accepted: ${describeExchange(sighting.exchange)}`);
    return false;
  }

  /** The rollback has to be confirmed: 200, or code 8 (docs/protocol.md, Errors). */
  confirms(sighting: Sighting): boolean {
    sighting.wanted = { kind: 'confirmation' };
    const { meaning } = sighting;
    if (meaning.kind === 'accepted') return true;
    if (meaning.kind === 'refused' && meaning.code === 8) return true;
    this.fail(`rollback should be confirmed: ${describeExchange(sighting.exchange)}`);
    return false;
  }

  /**
   * The answer has to be a refusal.
   * @param codes the proper ones, the best first; another one is a failure, or only a warning
   */
  refuses(sighting: Sighting, codes: readonly number[], other: 'fail' | 'warn' = 'fail'): boolean {
    const wanted: Wanted = { kind: 'refusal', codes };
    // Where the code is a matter of taste, no dialect need translate it.
    sighting.wanted = other === 'fail' ? wanted : { kind: 'refusal', codes: [] };
    const { meaning, operation, exchange } = sighting;
    if (meaning.kind !== 'refused') {
      this.fail(`${operation} should be refused: ${describeExchange(exchange)}`);
      return false;
    }
    const { code } = meaning;
    if (code === undefined || codes.includes(code)) return true;
    const reason = `${operation} was refused with code ${code} instead of ${codes.join(' or ')}`;
    if (other === 'fail') this.fail(reason);
    else this.warn(reason);
    return true;
  }
}
