import { Deadline } from '../../domain/deadline.ts';
import { unreachable } from '../../domain/unreachable.ts';
import type { BonusGrants } from '../../store/bonuses/grants.ts';
import type { BonusWalks } from '../../store/bonuses/walks.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Bonuses } from '../context.ts';
import type { BonusMethod } from '../method-names.ts';
import type { Account } from '../service/account.ts';
import { type BonusApiAnswer, mayMeanMissing, saysNoPlayer } from '../service/answer.ts';
import { type Json, treeInSlices } from '../translation/json-tree.ts';

/** What the read-back works with. */
export interface ReadingBack extends Bonuses {
  readonly walks: BonusWalks;
  readonly grants: BonusGrants;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Accounts whose service asked for patience, and until when. */
  readonly pausedUntilMs: Map<string, number>;
  /** Accounts whose page of templates did not come, and how many times in a row. */
  readonly triedInVain: Map<string, number>;
}

/** Its calls go by a lane of their own, in whose name no operator is: they never stand in one's way. */
const LANE = 'read back';

/** A claim is given up to others this long after the call that it is for must have ended. */
const LEASE_MARGIN_MS = 5_000;

/** What a service asks for beyond this is taken for a mistake. */
const PAUSE_MS_MAX = 10 * 60_000;

/** A page without anything on it. */
const EMPTY: Json = { kind: 'object', members: [] };

/** What came of a page that was asked for. */
export type ReadPage =
  | { readonly kind: 'read'; readonly answer: Json }
  /**
   * The service may mean that there is no such page: of a list that was longer when its first page was
   * read. Asked for again, it would never come.
   */
  | { readonly kind: 'refused' }
  | { readonly kind: 'failed' };

/** The page of an account's templates or of a player's bonuses. */
export async function readPage(
  reading: ReadingBack,
  account: Account,
  method: BonusMethod,
  body: string,
): Promise<ReadPage> {
  const { clock, service, logger } = reading;
  const deadline = new Deadline(clock, clock.monotonicMs(), timeoutMs(reading), 0);
  const answer = await service.ask(LANE, account, method, body, deadline);
  if (answer.kind === 'answered') {
    return { kind: 'read', answer: await treeInSlices(answer.document) };
  }
  // A batch that never arrived leaves its new players unknown there: who is not, has no bonus.
  if (method === 'player/bonuses' && saysNoPlayer(answer)) {
    return { kind: 'read', answer: EMPTY };
  }
  logger.debug({ method, answer: inWords(answer) }, 'bonus.read_back_not_answered');
  if (answer.kind === 'refused' && answer.retryAfterSeconds !== undefined) {
    // Of all of the account: a thousand players would else be asked for one after the other meanwhile.
    const pauseMs = Math.min(answer.retryAfterSeconds * 1000, PAUSE_MS_MAX);
    reading.pausedUntilMs.set(account.cid, clock.monotonicMs() + pauseMs);
  }
  return { kind: mayMeanMissing(answer) ? 'refused' : 'failed' };
}

/** The accounts of which pages may be asked for now. */
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

function inWords(answer: Exclude<BonusApiAnswer, { kind: 'answered' }>): string {
  switch (answer.kind) {
    case 'notSent':
      return `not sent: ${answer.reason}`;
    case 'refused':
      return `HTTP ${answer.status}, code ${answer.code ?? '-'}`;
    case 'unauthorized':
    case 'failed':
    case 'silent':
      return answer.error;
  }
  return unreachable(answer);
}
