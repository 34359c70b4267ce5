import { Deadline } from '../../domain/deadline.ts';
import type { BonusGrants } from '../../store/bonuses/grants.ts';
import type { OpenCreates } from '../../store/bonuses/open-creates.ts';
import type { BonusWalks } from '../../store/bonuses/walks.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Bonuses } from '../context.ts';
import type { BonusMethod } from '../method-names.ts';
import type { Account } from '../service/account.ts';
import { answerSummary, mayMeanMissing, saysNoPlayer } from '../service/answer.ts';
import { type Json, treeInSlices } from '../translation/json-tree.ts';

/** What the read-back works with. */
export interface ReadingBack extends Bonuses {
  readonly walks: BonusWalks;
  readonly openCreates: OpenCreates;
  readonly grants: BonusGrants;
  readonly metrics: Metrics;
  /** Accounts for which the service asked to wait, and until when. */
  readonly pausedUntilMs: Map<string, number>;
  /** Accounts whose page of templates could not be read, and how many times in a row. */
  readonly triedInVain: Map<string, number>;
}

/** Lanes of the read-back, one for each list of each account: its calls never block an operator's (I7). */
function laneOf({ cid }: Account, method: BonusMethod): string {
  return `read back of ${method} of ${cid}`;
}

/** A claim ends this long after its call must have ended; then others may claim. */
const LEASE_MARGIN_MS = 5_000;

/** A longer pause than this, if the service asks for one, is taken for a mistake. */
const PAUSE_MS_MAX = 10 * 60_000;

/** Delay after a page that could not be read. */
export const RETRY_MS = 2_000;

/** A page without anything on it. */
const EMPTY: Json = { kind: 'object', members: [] };

/** The result of reading a page. */
export type ReadPage =
  | { readonly kind: 'read'; readonly answer: Json }
  /** There may be no such page: the list has become shorter. Asking again would never succeed. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'failed' };

/** Reads a page of an account's templates or of a player's bonuses. */
export async function readPage(
  reading: ReadingBack,
  account: Account,
  method: BonusMethod,
  body: string,
): Promise<ReadPage> {
  const { clock, service, logger } = reading;
  const deadline = new Deadline(clock, clock.monotonicMs(), timeoutMs(reading), 0);
  const answer = await service.ask(laneOf(account, method), account, method, body, deadline);
  if (answer.kind === 'answered') {
    return { kind: 'read', answer: await treeInSlices(answer.document) };
  }
  // If a batch never arrived, the service does not know its new players: an unknown player has no bonus.
  if (method === 'player/bonuses' && saysNoPlayer(answer)) {
    return { kind: 'read', answer: EMPTY };
  }
  logger.debug({ method, answer: answerSummary(answer) }, 'bonus.read_back_not_answered');
  if (answer.kind === 'refused' && answer.retryAfterSeconds !== undefined) {
    // Pauses the whole account: otherwise a thousand players would be tried one after the other meanwhile.
    const pauseMs = Math.min(answer.retryAfterSeconds * 1000, PAUSE_MS_MAX);
    reading.pausedUntilMs.set(account.cid, clock.monotonicMs() + pauseMs);
  }
  return { kind: mayMeanMissing(answer) ? 'refused' : 'failed' };
}

/** The accounts whose pages may be requested now. */
export function readableCids({ accounts, clock, pausedUntilMs }: ReadingBack): readonly string[] {
  const nowMs = clock.monotonicMs();
  const cids = accounts.all().map(({ cid }) => cid);
  return cids.filter((cid) => (pausedUntilMs.get(cid) ?? nowMs) <= nowMs);
}

export function timeoutMs({ configuration }: Pick<Bonuses, 'configuration'>): number {
  return configuration().gateway.service.bonusTimeoutMs;
}

export function leaseMs(reading: Pick<Bonuses, 'configuration'>): number {
  return timeoutMs(reading) + LEASE_MARGIN_MS;
}
