import { matches, type Scope, type Subject } from './scope.ts';

/**
 * Whether the call is booked although the wallet misbehaves: `none` never, `applied` before the
 * misbehaviour shows, `later` when the test says so (`wallet.applyLate`).
 */
export type Booking = 'none' | 'applied' | 'later';

interface Booked {
  readonly effect?: Booking;
}

/** Ways in which real wallets fail, with the default of `effect` in brackets. */
export type Misbehaviour =
  /** Never answers (none). */
  | ({ readonly kind: 'hang' } & Booked)
  /** Never answers, and books when told to: a debit that comes after the caller gave up (later). */
  | { readonly kind: 'lateDebit' }
  /** Books at once, answers well but `ms` later (applied). */
  | ({ readonly kind: 'delay'; readonly ms: number } & Booked)
  /** The right answer byte by byte, `part` of it or all (applied). */
  | ({
      readonly kind: 'trickle';
      /** Default 100. */
      readonly intervalMs?: number;
      /** `head`: from the status line on. Default `body`: the head comes at once. */
      readonly part?: 'head' | 'body';
    } & Booked)
  /** Breaks the connection; `partial`: after half of an answer's body (none). */
  | ({ readonly kind: 'reset'; readonly partial?: boolean } & Booked)
  /** 200 with a body without end, until `bytes` (200 MB) are sent (applied). */
  | ({ readonly kind: 'huge'; readonly bytes?: number } & Booked)
  /** 307 to a place on this wallet that would answer well (none). */
  | ({ readonly kind: 'redirect'; readonly location?: string } & Booked)
  /** A proxy's error page with status 200 (none). */
  | ({ readonly kind: 'html' } & Booked)
  /** 200 without a body (applied). */
  | ({ readonly kind: 'empty' } & Booked)
  /** 200 about another bet (applied). */
  | ({ readonly kind: 'wrongTransactionId'; readonly transactionId?: string } & Booked)
  /** 200 with a time that is not ISO 8601 (applied). */
  | ({ readonly kind: 'badTransactionTime'; readonly value?: string } & Booked)
  /** Any status, with any body and further headers (none). */
  | ({
      readonly kind: 'status';
      readonly status: number;
      readonly body?: string;
      readonly headers?: Readonly<Record<string, string>>;
    } & Booked)
  /** 400 with this code (none). */
  | ({ readonly kind: 'code'; readonly code: number; readonly message?: string } & Booked)
  /** 400 without a code (none). */
  | ({ readonly kind: 'codeMissing' } & Booked);

export interface MisbehaviourOptions {
  /** Only calls about this bet. */
  readonly transactionId?: string;
  /** Only this many calls; without it all, until removed. */
  readonly calls?: number;
}

const BOOKED_UNLESS_SAID: ReadonlySet<Misbehaviour['kind']> = new Set([
  'delay',
  'trickle',
  'huge',
  'empty',
  'wrongTransactionId',
  'badTransactionTime',
]);

/** Whether a call is booked under this misbehaviour. */
export function bookingOf(misbehaviour: Misbehaviour): Booking {
  if (misbehaviour.kind === 'lateDebit') return 'later';
  return misbehaviour.effect ?? (BOOKED_UNLESS_SAID.has(misbehaviour.kind) ? 'applied' : 'none');
}

interface Rule {
  readonly scope: Scope;
  readonly misbehaviour: Misbehaviour;
  callsLeft: number;
}

/**
 * What the wallet is told to do wrong. Of several rules that fit a call the oldest applies, so that
 * rules with `calls` line up into a sequence; those that name the bet go before the general ones.
 */
export class Misbehaviours {
  #rules: readonly Rule[] = [];

  /** @returns removes the rule again */
  add(scope: Scope, misbehaviour: Misbehaviour, calls: number): () => void {
    const rule: Rule = { scope, misbehaviour, callsLeft: calls };
    this.#rules = [...this.#rules, rule];
    return () => this.#remove(rule);
  }

  clear(): void {
    this.#rules = [];
  }

  /** The misbehaviour that this call meets, used up by it; `undefined`: the wallet behaves. */
  take(subject: Subject): Misbehaviour | undefined {
    const fitting = this.#rules.filter((rule) => matches(rule.scope, subject));
    const rule = fitting.find((one) => one.scope.transactionId !== undefined) ?? fitting[0];
    if (rule === undefined) return undefined;
    rule.callsLeft -= 1;
    if (rule.callsLeft <= 0) this.#remove(rule);
    return rule.misbehaviour;
  }

  #remove(rule: Rule): void {
    this.#rules = this.#rules.filter((one) => one !== rule);
  }
}
