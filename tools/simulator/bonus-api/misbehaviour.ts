import type { BonusMethod } from '../../../src/bonuses/method-names.ts';
import { unreachable } from '../../../src/domain/unreachable.ts';

/**
 * Whether a call takes effect although the service misbehaves: `none` never, `applied` before it misbehaves,
 * `later` when the test says so (`applyLate`).
 */
export type BonusEffect = 'none' | 'applied' | 'later';

interface WithEffect {
  readonly effect?: BonusEffect;
}

/** Ways in which the bonus API fails, with the default of `effect` in brackets. */
export type BonusMisbehaviour =
  /** Never answers (none). */
  | ({ readonly kind: 'hang' } & WithEffect)
  /** Breaks the connection; `partial`: in the middle of the answer's body (none). */
  | ({ readonly kind: 'reset'; readonly partial?: boolean } & WithEffect)
  /** Any status, with any body and additional headers (none). */
  | ({
      readonly kind: 'status';
      readonly status: number;
      readonly body?: string;
      readonly headers?: Readonly<Record<string, string>>;
    } & WithEffect)
  /** A proxy's error page with status 200 (none). */
  | ({ readonly kind: 'html' } & WithEffect)
  /** 200 without a body (applied). */
  | ({ readonly kind: 'empty' } & WithEffect)
  /** 200 with only the first half of the right answer (applied). */
  | { readonly kind: 'brokenJson' }
  /** 200 with an endless body, up to `bytes` (200 MB) (applied). */
  | { readonly kind: 'huge'; readonly bytes?: number }
  /** The right answer, `ms` later (applied). */
  | { readonly kind: 'delay'; readonly ms: number }
  /** The right answer byte by byte, every `intervalMs` (100) (applied). */
  | {
      readonly kind: 'trickle';
      readonly intervalMs?: number;
      /** `head`: from the status line on. Default `body`: the head is sent at once. */
      readonly part?: 'head' | 'body';
    }
  /** The right answer with another body: a service that says more than it should, or something else (applied). */
  | { readonly kind: 'rewrite'; readonly body: (right: string) => string };

/** Whether a call takes effect under this misbehaviour. */
export function effectOf(misbehaviour: BonusMisbehaviour): BonusEffect {
  switch (misbehaviour.kind) {
    case 'hang':
    case 'reset':
    case 'status':
    case 'html':
      return misbehaviour.effect ?? 'none';
    case 'empty':
      return misbehaviour.effect ?? 'applied';
    case 'brokenJson':
    case 'huge':
    case 'delay':
    case 'trickle':
    case 'rewrite':
      return 'applied';
  }
  return unreachable(misbehaviour);
}

interface Rule {
  readonly method: BonusMethod | 'any';
  readonly misbehaviour: BonusMisbehaviour;
  callsLeft: number;
}

/** The rules for misbehaving. If several rules match a call, the oldest applies. */
export class BonusMisbehaviours {
  #rules: readonly Rule[] = [];

  /** @returns removes the rule */
  add(method: BonusMethod | 'any', misbehaviour: BonusMisbehaviour, calls: number): () => void {
    const rule: Rule = { method, misbehaviour, callsLeft: calls };
    this.#rules = [...this.#rules, rule];
    return () => this.#remove(rule);
  }

  clear(): void {
    this.#rules = [];
  }

  /** The misbehaviour for this call, which counts against the rule's limit; `undefined`: the service behaves. */
  take(method: BonusMethod): BonusMisbehaviour | undefined {
    const rule = this.#rules.find((one) => one.method === 'any' || one.method === method);
    if (rule === undefined) return undefined;
    rule.callsLeft -= 1;
    if (rule.callsLeft <= 0) this.#remove(rule);
    return rule.misbehaviour;
  }

  #remove(rule: Rule): void {
    this.#rules = this.#rules.filter((one) => one !== rule);
  }
}
