import type { BetOperation, BetPlan, CopyKind } from '../plan/plan.ts';
import type { Player } from './messages.ts';

/** One request of the service, and its answer or that none came. */
export interface Send {
  readonly step: string;
  readonly operation: BetOperation;
  readonly kind: 'first' | 'repeat' | CopyKind;
  readonly requestId: string;
  /** On `performance.now()`. */
  readonly atMs: number;
  readonly endedAtMs: number;
  /** 0 if nothing came. */
  readonly status: number;
  readonly code: number | undefined;
  readonly body: string;
  readonly failure: 'timeout' | 'connection' | undefined;
  /** 200 with the body that the protocol requires. */
  readonly isConfirmed: boolean;
}

/** What the service believes about a bet, from its answers only. */
export type BetStanding =
  /** No answer yet, or none with a definite outcome. */
  | 'open'
  | 'accepted'
  | 'declined'
  /** Rolled back: nobody may keep anything of it. */
  | 'rolledBack';

/** One bet as the service saw it. */
export interface BetRecord {
  readonly plan: BetPlan;
  readonly transactionId: string;
  readonly player: Player;
  readonly sends: Send[];
  standing: BetStanding;
  /** The amount of the last confirmed result, decimal text; `0` if there is none, or the bet is lost. */
  paid: string;
  /** When its rollback was first sent. */
  rolledBackFromMs: number | undefined;
  /** When the operator began to end the player's session. */
  sessionEndedFromMs: number | undefined;
  /** Its place was answered 100, and the service forgot to roll it back. */
  isLeftToGateway: boolean;
  /** Operations that the service gave up on without a definite answer, in words. */
  readonly unanswered: string[];
}

export function newRecord(plan: BetPlan, transactionId: string, player: Player): BetRecord {
  return {
    plan,
    transactionId,
    player,
    sends: [],
    standing: 'open',
    paid: '0',
    rolledBackFromMs: undefined,
    sessionEndedFromMs: undefined,
    isLeftToGateway: false,
    unanswered: [],
  };
}
