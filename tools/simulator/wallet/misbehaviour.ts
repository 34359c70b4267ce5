import type { Operation } from '../../../src/domain/operation.ts';

/** The calls to which a rule or gate applies. */
interface Scope {
  readonly operation: Operation | 'any';
  readonly transactionId: string | undefined;
}

/** The properties of a call that decide this. */
export interface Subject {
  readonly operation: Operation;
  readonly transactionId?: string;
}

export function matching({ operation, transactionId }: Scope): (subject: Subject) => boolean {
  return (subject) =>
    (operation === 'any' || operation === subject.operation) &&
    (transactionId === undefined || transactionId === subject.transactionId);
}

/** Whether a misbehaving wallet books the call: `none` never, `applied` before, `later` by `wallet.applyLate`. */
export type Booking = 'none' | 'applied' | 'later';

interface Booked {
  readonly effect?: Booking;
}

/** Ways in which real wallets fail, with the default of `effect` in brackets. */
export type Misbehaviour =
  /** Never answers (none). */
  | ({ readonly kind: 'hang' } & Booked)
  /** Never answers, and books when told to: a debit after the caller has given up (later). */
  | { readonly kind: 'lateDebit' }
  /** Books at once, and answers well after `ms` (applied). */
  | ({ readonly kind: 'delay'; readonly ms: number } & Booked)
  /** The right answer byte by byte, all of it or only `part` (applied). */
  | ({
      readonly kind: 'trickle';
      /** Default 100. */
      readonly intervalMs?: number;
      /** `head`: from the status line on. Default `body`: the head is sent at once. */
      readonly part?: 'head' | 'body';
    } & Booked)
  /** Breaks the connection; `partial`: after half of an answer's body (none). */
  | ({ readonly kind: 'reset'; readonly partial?: boolean } & Booked)
  /** 200 with an endless body, up to `bytes` (200 MB) (applied). */
  | ({ readonly kind: 'huge'; readonly bytes?: number } & Booked)
  /** 307 to an address of this wallet that would answer well (none). */
  | ({ readonly kind: 'redirect'; readonly location?: string } & Booked)
  /** A proxy's error page with status 200 (none). */
  | ({ readonly kind: 'html' } & Booked)
  /** 200 without a body (applied). */
  | ({ readonly kind: 'empty' } & Booked)
  /** 200 about another bet (applied). */
  | ({ readonly kind: 'wrongTransactionId'; readonly transactionId?: string } & Booked)
  /** 200 with a time that is not ISO 8601 (applied). */
  | ({ readonly kind: 'badTransactionTime'; readonly value?: string } & Booked)
  /** Any status, with any body and additional headers (none). */
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
  /** Only this many calls; by default all, until removed. */
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

interface Rule<What, Call> {
  readonly applies: (call: Call) => boolean;
  readonly isSpecific: boolean;
  readonly misbehaviour: What;
  callsLeft: number;
}

/** The rules for misbehaving. The oldest that matches applies, those that name the bet first. */
export class MisbehaviourRules<What, Call> {
  #rules: readonly Rule<What, Call>[] = [];

  /** @param isSpecific whether it comes before general rules @returns removes the rule */
  add(
    applies: (call: Call) => boolean,
    misbehaviour: What,
    calls: number,
    isSpecific = false,
  ): () => void {
    const rule = { applies, isSpecific, misbehaviour, callsLeft: calls };
    this.#rules = [...this.#rules, rule];
    return () => this.#remove(rule);
  }

  clear(): void {
    this.#rules = [];
  }

  /** The misbehaviour for this call, which counts against the rule's limit; `undefined`: the server behaves. */
  take(call: Call): What | undefined {
    const fitting = this.#rules.filter((rule) => rule.applies(call));
    const rule = fitting.find((one) => one.isSpecific) ?? fitting[0];
    if (rule === undefined) return undefined;
    rule.callsLeft -= 1;
    if (rule.callsLeft <= 0) this.#remove(rule);
    return rule.misbehaviour;
  }

  #remove(rule: Rule<What, Call>): void {
    this.#rules = this.#rules.filter((one) => one !== rule);
  }
}
