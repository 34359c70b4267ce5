import type { Engine } from '../engine/context.ts';
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
