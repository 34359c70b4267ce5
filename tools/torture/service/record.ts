import type { BetOperation, BetPlan, CopyKind } from '../plan/plan.ts';
import type { Player } from './messages.ts';

/** One request of the service and what came back, or that nothing did. */
export interface Send {
  readonly step: string;
  readonly operation: BetOperation;
  readonly kind: 'first' | 'repeat' | CopyKind;
  readonly requestId: string;
  /** On `performance.now()`. */
  readonly atMs: number;
  readonly endedAtMs: number;
  /** 0 when nothing came. */
  readonly status: number;
  readonly code: number | undefined;
  readonly body: string;
  readonly failure: 'timeout' | 'connection' | undefined;
  /** 200 with the body that the protocol asks for. */
  readonly isConfirmed: boolean;
  /** Which of the deployment's addresses. */
  readonly entrance: number;
}

/** What the service believes of a bet, from what it was told and nothing else. */
export type BetStanding =
  /** No answer to anything yet, or none that says. */
  | 'open'
  | 'accepted'
  | 'declined'
  /** Given up: nobody may keep anything of it. */
  | 'rolledBack';

/** One bet as the service lived it. */
export interface BetRecord {
  readonly plan: BetPlan;
  readonly transactionId: string;
  /** Its token is that of the last session. */
  player: Player;
  readonly sends: Send[];
  standing: BetStanding;
  /** The result that was confirmed last, decimal text; `0`: none, or a lost bet. */
  paid: string;
  isSettled: boolean;
  /** When its rollback was first sent. */
  rolledBackFromMs: number | undefined;
  /** When the operator began to end the player's session. */
  sessionEndedFromMs: number | undefined;
  /** When another session was there for the player. */
  sessionRenewedAtMs: number | undefined;
  /** The last result was given up without an answer: nobody knows which one stands. */
  isResultOpen: boolean;
  /** A person has said of a result that the wallet had taken it. */
  isLookedUp: boolean;
  /** Answered 100, and the service forgot to roll it back. */
  isLeftToGateway: boolean;
  /** What the service had to give up on without a definite answer, in words. */
  readonly unanswered: string[];
}

export function newRecord(plan: BetPlan, transactionId: string, player: Player): BetRecord {
  return {
    plan,
    transactionId,
    player,
    sends: [],
    standing: plan.begins === 'elsewhere' ? 'accepted' : 'open',
    paid: plan.paidBefore ?? '0',
    isSettled: plan.paidBefore !== undefined,
    rolledBackFromMs: undefined,
    sessionEndedFromMs: undefined,
    sessionRenewedAtMs: undefined,
    isResultOpen: false,
    isLookedUp: false,
    isLeftToGateway: false,
    unanswered: [],
  };
}
