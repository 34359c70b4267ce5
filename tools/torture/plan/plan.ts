/** A whole history, decided before it is played. It is only data. */
export interface Plan {
  readonly seed: number;
  readonly layout: Layout;
  readonly bets: readonly BetPlan[];
  readonly faults: readonly FaultPlan[];
}

/** How the gateway is divided into processes. */
export const LAYOUTS = ['one', 'replicas', 'split', 'workers'] as const;
export type Layout = (typeof LAYOUTS)[number];

/** Operators whose wallets keep the protocol. */
export const OPERATORS = ['alpha', 'beta', 'gamma', 'delta'] as const;
export type OperatorId = (typeof OPERATORS)[number];

export interface OperatorCharacter {
  readonly settleOnFailure: 'error' | 'queue';
  /** Treats every `requestId` as an operation of its own (dialect `stableRequestId`). */
  readonly keyedOnRequestId: boolean;
  /** Remembers rollbacks of bets that it has not seen, and refuses a later place. */
  readonly tombstones: boolean;
}

export const CHARACTERS: Readonly<Record<OperatorId, OperatorCharacter>> = {
  alpha: { settleOnFailure: 'error', keyedOnRequestId: false, tombstones: true },
  beta: { settleOnFailure: 'queue', keyedOnRequestId: false, tombstones: false },
  gamma: { settleOnFailure: 'queue', keyedOnRequestId: true, tombstones: true },
  delta: { settleOnFailure: 'error', keyedOnRequestId: true, tombstones: false },
};

export interface BetPlan {
  /** `b0`, `b1`, …; the ids of its parts begin with it. */
  readonly id: string;
  readonly operator: OperatorId;
  /** Decimal text. */
  readonly stake: string;
  readonly startMs: number;
  readonly isFreebet: boolean;
  /** The service forgets to roll back a place that was answered 100, so the gateway has to. */
  readonly isForgotten: boolean;
  /** Amounts of settles that the wallet always refuses, with the code. */
  readonly refuses: Readonly<Record<string, number>>;
  readonly steps: readonly Step[];
  readonly fates: readonly Fate[];
}

export type Move =
  | { readonly kind: 'place' }
  | { readonly kind: 'settle'; readonly amount: string; readonly resultType: ResultType }
  | { readonly kind: 'unsettle' }
  | { readonly kind: 'rollback'; readonly errorCode: number }
  | { readonly kind: 'update'; readonly coefficient: string }
  /** The operator ends the player's session. */
  | { readonly kind: 'endSession' };

export type BetMove = Exclude<Move, { kind: 'endSession' }>;

export type ResultType = 'won' | 'lost' | 'refund' | 'cashout';

/** One operation that the service sends about a bet, with its repeats. */
export interface Step {
  readonly id: string;
  readonly move: Move;
  /** Counted from the end of the step before, or from its beginning if this step is `alongside`. */
  readonly pauseMs: number;
  /** Does not wait for the step before; only rollbacks and updates may do this. */
  readonly isAlongside: boolean;
  /** Which of the gateway's addresses gets it first; repeats go to the others in turn. */
  readonly via: number;
  readonly copies: readonly Copy[];
}

/** A copy of the step's request: the same bytes, or contradicting ones. */
export interface Copy {
  readonly id: string;
  readonly kind: CopyKind;
  readonly afterMs: number;
  readonly via: number;
}

/**
 * `twin`: the same bytes during the step. `replay`: after its end. `again`: under a new `requestId`, before anything
 * else comes. `conflict`: a place with another stake.
 */
export type CopyKind = 'twin' | 'replay' | 'again' | 'conflict';

export type BetOperation = 'place' | 'settle' | 'unsettle' | 'rollback' | 'update';

/** What happens to one call at the wallet: the `nth` (from 0) call of an operation of its bet. */
export interface Fate {
  readonly id: string;
  readonly operation: BetOperation;
  readonly nth: number;
  /** Whether and when the wallet executes the call. */
  readonly effect: 'now' | 'never' | 'late';
  /** What the caller receives. */
  readonly answer: FateAnswer;
  /** For `late`: time from arrival to execution; for `slow`: time to the answer. */
  readonly delayMs: number;
  /** For answer `code`. */
  readonly code: number;
}

export type FateAnswer = 'good' | 'slow' | 'hang' | 'reset' | 'cutShort' | 'status500' | 'code';

/** When a fault begins: at a time since the start, or when a bet's traffic is seen. */
export type Trigger =
  | { readonly kind: 'at'; readonly ms: number }
  /** When the `nth` (from 0) call about the bet reaches its wallet. */
  | { readonly kind: 'wallet'; readonly bet: string; readonly nth: number }
  /** When the `nth` (from 0) message to PostgreSQL that names the bet leaves process `process`. */
  | { readonly kind: 'statement'; readonly bet: string; readonly nth: number };

export interface FaultPlan {
  readonly id: string;
  readonly trigger: Trigger;
  readonly fault: Fault;
}

/** `process` counts the gateway's processes from 0; a number that is too high wraps around. */
export type Fault =
  | {
      readonly kind: 'postgres' | 'redis';
      readonly process: number;
      readonly how: LinkFault;
      readonly ms: number;
    }
  | { readonly kind: 'flushRedis' }
  /** Hits the one connection that carries the statement, or any one of them. */
  | {
      readonly kind: 'connection';
      readonly process: number;
      readonly how: ConnectionFault;
      readonly ms: number;
    }
  | { readonly kind: 'stop'; readonly process: number; readonly ms: number }
  | { readonly kind: 'kill'; readonly process: number; readonly downMs: number }
  | { readonly kind: 'maintenance'; readonly operator: OperatorId; readonly ms: number }
  | { readonly kind: 'walletDown'; readonly operator: OperatorId; readonly ms: number };

export type LinkFault = 'freeze' | 'cut' | 'reset';

/**
 * `holdRequest`: nothing passes; `holdAnswer`: only the statement does; `loseRequest`, `loseAnswer`: the connection
 * breaks before, or after, the execution; `conflict`, `deadlock`: refused (40001, 40P01).
 */
export const CONNECTION_FAULTS = [
  'holdRequest',
  'holdAnswer',
  'loseRequest',
  'loseAnswer',
  'conflict',
  'deadlock',
] as const;
export type ConnectionFault = (typeof CONNECTION_FAULTS)[number];
