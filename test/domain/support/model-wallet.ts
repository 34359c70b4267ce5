import type { ResultType } from '../../../src/domain/bet.ts';
import type { BetAnswer } from '../../../src/domain/wallet-answer.ts';

/**
 * What happens to a call: executed and answered; executed, not executed, or executed later, and not answered;
 * refused with a definite code; not sent.
 */
export const FATES = ['ok', 'lost', 'missed', 'late', 'refused', 'notSent'] as const;
export type Fate = (typeof FATES)[number];

export type WalletCall =
  | { readonly operation: 'place' | 'unsettle' | 'rollback' }
  | { readonly operation: 'settle'; readonly amount: string; readonly resultType: ResultType }
  | { readonly operation: 'update'; readonly key: string };

/** Not enough money, or a blocked recalculation. */
const REFUSAL = { place: 7, settle: 20, unsettle: 21, update: 5, rollback: 5 } as const;

/**
 * A wallet that keeps the protocol: after a call it has the state that the call demands, however often it comes.
 */
export class ModelWallet {
  isHeld = false;
  result: string | undefined;
  places = 0;
  readonly #late: WalletCall[] = [];

  take(call: WalletCall, fate: Fate, transactionTime: string): BetAnswer {
    const trace = { sent: fate !== 'notSent', latencyMs: 1 };
    if (fate === 'notSent') return { kind: 'notSent', reason: 'connection', trace };
    if (call.operation === 'place') this.places += 1;
    if (fate === 'refused') {
      return { kind: 'declined', code: REFUSAL[call.operation], message: 'no', trace };
    }
    if (fate === 'late') this.#late.push(call);
    if (fate === 'ok' || fate === 'lost') this.#book(call);
    if (fate === 'ok') return { kind: 'accepted', transactionTime, trace };
    return { kind: 'unknown', fault: 'timeout', trace };
  }

  /** Executes the calls that were put off. */
  landLate(): void {
    for (const call of this.#late.splice(0)) this.#book(call);
  }

  #book(call: WalletCall): void {
    switch (call.operation) {
      case 'place':
        this.isHeld = true;
        return;
      case 'rollback':
        this.isHeld = false;
        this.result = undefined;
        return;
      case 'settle':
        if (this.isHeld) this.result = call.amount;
        return;
      case 'unsettle':
        this.result = undefined;
        return;
      case 'update':
        return;
    }
  }
}
