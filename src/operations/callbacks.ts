import type { Deadline } from '../domain/deadline.ts';
import type { PlaceRequest } from '../protocol/messages.ts';
import type { AnswerCache } from '../redis/answer-cache.ts';
import type { PlaceJournal } from '../store/bets/place-journal.ts';
import type { Confirmations } from '../store/deliveries/confirmations.ts';
import type { Players } from '../store/sessions/players.ts';
import type { Wallets } from '../wallets/wallets.ts';
import type { Engine } from './engine.ts';
import type { RefusedReads } from './refused-reads.ts';
import type { RepairedAnswers } from './repaired-answers.ts';

export interface Callbacks extends Engine {
  readonly players: Players;
  readonly places: PlaceJournal;
  readonly answers: AnswerCache;
  readonly confirmations: Confirmations;
  readonly wallets: Wallets;
  readonly refusedReads: RefusedReads;
  readonly repairedAnswers: RepairedAnswers;
  /** Whether this successful profile or balance is logged; all other callbacks are. */
  readonly logsRead: () => boolean;
}

/** A place during its callback; `BetCallback` is for the later operations of a bet. */
export interface PlaceCallback {
  readonly callbacks: Callbacks;
  readonly message: PlaceRequest;
  /** The message for the journal: with the hash of its token. */
  readonly stored: Buffer;
  readonly deadline: Deadline;
}
