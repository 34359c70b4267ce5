/** A whole history, decided before it is played: data only, so that it can be shrunk and printed. */
export interface Plan {
  readonly seed: number;
  readonly layout: Layout;
  readonly bets: readonly BetPlan[];
  readonly faults: readonly FaultPlan[];
}

/** How the gateway's processes are laid out. */
export const LAYOUTS = ['one', 'replicas', 'split', 'workers'] as const;
export type Layout = (typeof LAYOUTS)[number];

/** Operators whose wallets keep the protocol. */
export const OPERATORS = ['alpha', 'beta', 'gamma', 'delta'] as const;
/** The operators of every deployment, by what their wallets are like. */
export const ALL_OPERATORS = [...OPERATORS, 'epsilon', 'zeta', 'eta'] as const;
export type OperatorId = (typeof ALL_OPERATORS)[number];

export interface OperatorCharacter {
  readonly settleOnFailure: 'error' | 'queue';
  /** Takes every `requestId` for an operation of its own (dialect `stableRequestId`). */
  readonly keyedOnRequestId: boolean;
  /** Remembers rollbacks of bets that it has not seen, and refuses their place. */
  readonly tombstones: boolean;
  /**
   * Sessions are prefixed, and the wallet speaks a language of its own: it wants a token on every call, answers with
   * empty bodies, errors as 404 and 422 with an `errorCode`, and "nothing to roll back" as 5.
   */
  readonly isForeign: boolean;
  /** Its promises are dead letters after a second, which a person has sent once more. */
  readonly isImpatient: boolean;
  /** Pays what is repeated again, and takes it back again: only a person may repeat (`unknownRepeats: hold`). */
  readonly isSpendthrift: boolean;
}

const USUAL = { isForeign: false, isImpatient: false, isSpendthrift: false };

export const CHARACTERS: Readonly<Record<OperatorId, OperatorCharacter>> = {
  alpha: { ...USUAL, settleOnFailure: 'error', keyedOnRequestId: false, tombstones: true },
  beta: { ...USUAL, settleOnFailure: 'queue', keyedOnRequestId: false, tombstones: false },
  gamma: { ...USUAL, settleOnFailure: 'queue', keyedOnRequestId: true, tombstones: true },
  delta: { ...USUAL, settleOnFailure: 'error', keyedOnRequestId: true, tombstones: false },
  epsilon: {
    ...{ settleOnFailure: 'queue', keyedOnRequestId: false, tombstones: false },
    ...{ ...USUAL, isForeign: true },
  },
  zeta: {
    ...{ settleOnFailure: 'queue', keyedOnRequestId: false, tombstones: true },
    ...{ ...USUAL, isImpatient: true },
  },
  eta: {
    ...{ settleOnFailure: 'queue', keyedOnRequestId: false, tombstones: true },
    ...{ ...USUAL, isSpendthrift: true },
  },
};

export interface BetPlan {
  /** `b0`, `b1`, …; the parts' ids begin with it. */
  readonly id: string;
  readonly operator: OperatorId;
  /** Decimal text. */
  readonly stake: string;
  readonly startMs: number;
  readonly isFreebet: boolean;
  /** The service forgets to roll back what was answered 100: the gateway has to. */
  readonly isForgotten: boolean;
  readonly begins: Beginning;
  /** A person resolves its dead letters, once the wallet holds what the service goes by. */
  readonly isSeenTo?: boolean;
  /** Of a bet from elsewhere: what was paid for it there, decimal text; undefined: it waits for its result. */
  readonly paidBefore?: string;
  /** Amounts of settles that the wallet refuses whenever they come, with the code. */
  readonly refuses: Readonly<Record<string, number>>;
  readonly steps: readonly Step[];
  readonly fates: readonly Fate[];
}

/**
 * `here`: with its place. `elsewhere`: the wallet holds it already, and the gateway has never heard of it: it was
 * placed before there was a gateway. `overtaken`: its place is delayed on the way, and its rollback comes first.
 */
export type Beginning = 'here' | 'elsewhere' | 'overtaken';

export type Move =
  | { readonly kind: 'place' }
  | { readonly kind: 'settle'; readonly amount: string; readonly resultType: ResultType }
  | { readonly kind: 'unsettle' }
  | { readonly kind: 'rollback'; readonly errorCode: number }
  | { readonly kind: 'update'; readonly coefficient: string }
  /** The operator ends the player's session. */
  | { readonly kind: 'endSession' }
  /** The player comes again with another currency: the operator opens another session. */
  | { readonly kind: 'newSession' };

export type BetMove = Exclude<Move, { kind: 'endSession' | 'newSession' }>;

export type ResultType = 'won' | 'lost' | 'refund' | 'cashout';

/** One thing that the service does with a bet, repeats included. */
export interface Step {
  readonly id: string;
  readonly move: Move;
  /** After the step before has come to its end, or after it began where this one is `alongside`. */
  readonly pauseMs: number;
  /** Does not wait for the step before: only rollbacks and updates may come like this. */
  readonly isAlongside: boolean;
  /** Which of the gateway's addresses takes it first; repeats go to the others in turn. */
  readonly via: number;
  readonly copies: readonly Copy[];
  /** Of a result: after so many tries without an answer the service goes on, because the result has changed meanwhile. */
  readonly givesUpAfter?: number;
}

/** The same bytes once more, or bytes that contradict. */
export interface Copy {
  readonly id: string;
  readonly kind: CopyKind;
  readonly afterMs: number;
  readonly via: number;
}

/**
 * `twin`: the same bytes while the step goes on; `replay`: after its end, whatever came since;
 * `again`: the same operation under a new `requestId`, before anything else comes; `respelled`: that, with the
 * amount in another spelling; `conflict`: a place with another stake; `swapped`: a place's bytes by PUT, which would
 * be an unsettle.
 */
export type CopyKind = 'twin' | 'replay' | 'again' | 'respelled' | 'conflict' | 'swapped';

export type BetOperation = 'place' | 'settle' | 'unsettle' | 'rollback' | 'update';

/** What becomes of one call at the wallet: the `nth` (from 0) of an operation of its bet. */
export interface Fate {
  readonly id: string;
  readonly operation: BetOperation;
  readonly nth: number;
  /** Whether and when the wallet does what it was asked. */
  readonly effect: 'now' | 'never' | 'late';
  /** What the caller gets to see. */
  readonly answer: FateAnswer;
  /** For `late`: when it is done, after the arrival; for `slow`: when it is answered. */
  readonly delayMs: number;
  /** For `code`. */
  readonly code: number;
}

export type FateAnswer =
  | 'good'
  | 'slow'
  | 'hang'
  | 'reset'
  | 'cutShort'
  | 'status500'
  | 'html'
  | 'wrongId'
  | 'empty'
  | 'trickle'
  | 'code';

/** When a fault comes: at a time from the beginning, or when something of a bet is seen. */
export type Trigger =
  | { readonly kind: 'at'; readonly ms: number }
  /** The `nth` (from 0) call about the bet reaches its wallet. */
  | { readonly kind: 'wallet'; readonly bet: string; readonly nth: number }
  /** The `nth` (from 0) message to PostgreSQL that names the bet leaves process `process`. */
  | { readonly kind: 'statement'; readonly bet: string; readonly nth: number };

export interface FaultPlan {
  readonly id: string;
  readonly trigger: Trigger;
  readonly fault: Fault;
}

/** `process` counts the gateway's processes from 0; too high a number wraps around. */
export type Fault =
  | {
      readonly kind: 'postgres';
      readonly process: number;
      readonly how: LinkFault;
      readonly ms: number;
    }
  | {
      readonly kind: 'redis';
      readonly process: number;
      readonly how: LinkFault;
      readonly ms: number;
    }
  | { readonly kind: 'flushRedis' }
  /** To the one connection that carries the statement, or to any one of them. */
  | {
      readonly kind: 'connection';
      readonly process: number;
      readonly how: ConnectionFault;
      readonly ms: number;
    }
  | { readonly kind: 'stop'; readonly process: number; readonly ms: number }
  | { readonly kind: 'kill'; readonly process: number; readonly downMs: number }
  | { readonly kind: 'maintenance'; readonly operator: OperatorId; readonly ms: number }
  /** Of the service: both are taken, it changes to the new one, the old one is taken away. */
  | { readonly kind: 'rotateServiceSecret' }
  /** Of an operator's wallet, in the same steps. */
  | { readonly kind: 'rotateSecret'; readonly operator: OperatorId }
  | { readonly kind: 'reload' }
  | { readonly kind: 'breaker'; readonly operator: OperatorId; readonly ms: number }
  | { readonly kind: 'walletDown'; readonly operator: OperatorId; readonly ms: number }
  | { readonly kind: 'suspended'; readonly operator: OperatorId; readonly ms: number }
  /** A person holds the operator's deliveries, and lets them go on. */
  | { readonly kind: 'hold'; readonly operator: OperatorId; readonly ms: number }
  /** A person has all of an operator's waiting deliveries and dead letters tried at once. */
  | { readonly kind: 'retry'; readonly operator: OperatorId }
  /** `wallet.generation` is raised, and after a while a person releases what was held for it. */
  | { readonly kind: 'newWallet'; readonly operator: OperatorId; readonly ms: number }
  /** Redis comes back with what it held so long before. */
  | { readonly kind: 'oldRedis'; readonly ms: number };

export type LinkFault = 'freeze' | 'cut' | 'reset' | 'slow';

/**
 * `holdRequest`: nothing passes for a while, the statement included; `holdAnswer`: the statement
 * passes, its answer waits; `loseRequest`, `loseAnswer`: the connection breaks before, or after, the
 * server has done it.
 */
export type ConnectionFault =
  | 'holdRequest'
  | 'holdAnswer'
  | 'loseRequest'
  | 'loseAnswer'
  | CommitFault;

/**
 * `conflict`, `deadlock`: the server refuses the statement (40001, 40P01); `conflictAtCommit`: it is
 * done, and refused (40001) when it is to be committed; `loseBeforeCommit`: it is done, and the
 * connection breaks with its commit unsent; `loseAtCommit`: the connection breaks behind the commit,
 * which the server carries out with nobody there to be told; `holdCommit`: it is done, and committed
 * only after a while.
 */
export const COMMIT_FAULTS = [
  'holdCommit',
  'conflict',
  'deadlock',
  'conflictAtCommit',
  'loseBeforeCommit',
  'loseAtCommit',
] as const;
export type CommitFault = (typeof COMMIT_FAULTS)[number];

/** The ids of everything that can be left out of a plan, coarse parts first. */
export function partsOf(plan: Plan): readonly string[] {
  return [
    ...plan.faults.map(({ id }) => id),
    ...plan.bets.map(({ id }) => id),
    ...plan.bets.flatMap((bet) => [
      ...bet.fates.map(({ id }) => id),
      ...bet.steps.flatMap((step) => [step.id, ...step.copies.map(({ id }) => id)]),
    ]),
  ];
}

/** The plan without what is not in `kept`; a part whose whole is left out goes with it. */
export function prune(plan: Plan, kept: ReadonlySet<string>): Plan {
  const isKept = ({ id }: { readonly id: string }) => kept.has(id);
  return {
    ...plan,
    faults: plan.faults.filter(isKept),
    bets: plan.bets.filter(isKept).map((bet) => ({
      ...bet,
      fates: bet.fates.filter(isKept),
      steps: bet.steps
        .filter(isKept)
        .map((step) => ({ ...step, copies: step.copies.filter(isKept) })),
    })),
  };
}
