import type { Engine } from '../engine/context.ts';
import type { Answer } from '../protocol/answers.ts';
import type { AnswerCache } from '../redis/answer-cache.ts';
import type { PlaceJournal } from '../store/bets/place-journal.ts';
import type { Players } from '../store/sessions/players.ts';
import type { Wallets } from '../wallets/wallets.ts';
import type { RefusedReads } from './refused-reads.ts';

/** What the callbacks work with. */
export interface Callbacks extends Engine {
  readonly players: Players;
  readonly places: PlaceJournal;
  readonly answers: AnswerCache;
  readonly wallets: Wallets;
  readonly refusedReads: RefusedReads;
  /** Whether this good profile or balance is logged; every other callback is. */
  readonly logsRead: () => boolean;
}

/** What a callback is counted under (`gateway_callbacks_total`). */
export type CallbackOutcome =
  | 'accepted'
  | 'declined'
  | 'unknown'
  | 'not_sent'
  | 'duplicate'
  | 'conflict'
  | 'taken_over'
  | 'invalid'
  | 'unauthorized'
  | 'error';

/** A callback's answer with what is to be counted and logged about it. */
export interface Handled {
  readonly answer: Answer;
  readonly outcome: CallbackOutcome;
  readonly operatorId: string | undefined;
  /** Facts for the log line; never a token, a secret or a personal field. */
  readonly detail?: Readonly<Record<string, string | number | undefined>>;
}
