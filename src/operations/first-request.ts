import { askForSame, asksForResult } from '../domain/asked.ts';
import type { Bet } from '../domain/bet.ts';
import { bearingOf, isOpenResult } from '../domain/course.ts';
import { isResult } from '../domain/operation.ts';
import { jsonString } from '../protocol/json.ts';
import { type BetRequest, parseBet, type SettleRequest } from '../protocol/messages.ts';
import type { BetJournal, RecordedOperation } from '../store/bets/journal.ts';
import type { Confirmations } from '../store/deliveries/confirmations.ts';
import type { Engine } from './engine.ts';

type ResultJournal = Pick<BetJournal, 'operation' | 'resultsOf' | 'resultsUnder'>;

/** The ids in the first request of an operation to its wallet. */
export interface FirstRequest {
  /** For the header `x-request-id`. */
  readonly requestId: string;
  /** Raw JSON of its body's `requestId`; undefined if it had none. */
  readonly inBody: string | undefined;
}

/**
 * What a repeat carries for a wallet with `stableRequestId`: under a new id it would pay the same result twice, under
 * an old id it ignores what is no repeat (`bearingOf`).
 * @param of the operation itself if it is already in the journal, otherwise the attempt that will write it
 * @returns undefined if the message is the first one
 * @throws GatewayError `DATABASE_UNAVAILABLE`
 */
export async function firstRequest(
  journal: ResultJournal,
  message: BetRequest,
  of: { readonly operationId: string } | { readonly attemptId: string },
): Promise<FirstRequest | undefined> {
  const { transactionId } = message;
  const own = 'operationId' in of ? of.operationId : undefined;
  const itself =
    own === undefined ? undefined : await journal.operation({ transactionId, operationId: own });
  if (!asksForResult(message)) return itself && requestOf(itself);
  const before = journal.resultsOf(transactionId, own);
  const { first = itself, endsAt } = await rowOfRepeats(before, message);
  const requestId = first === undefined ? message.requestId : first.requestId;
  const attemptId = first?.attemptId ?? ('attemptId' in of ? of.attemptId : undefined);
  const isTaken =
    requestId !== undefined &&
    endsAt !== undefined &&
    (await journal.resultsUnder({ transactionId, requestId, upTo: endsAt })).some(
      ({ wasSent }) => wasSent,
    );
  if (isTaken && attemptId !== undefined) {
    return { requestId: attemptId, inBody: jsonString(attemptId) };
  }
  return first && requestOf(first);
}

/**
 * Reads only as far as needed: a bet may have thousands of results.
 * @param newestFirst the earlier results
 * @returns the oldest of an unbroken row of repeats, if there is one, and the result before that row
 */
async function rowOfRepeats(
  newestFirst: AsyncIterable<RecordedOperation>,
  message: BetRequest,
): Promise<{ readonly first?: RecordedOperation; readonly endsAt?: string }> {
  let row: { readonly first?: RecordedOperation } = {};
  for await (const earlier of newestFirst) {
    if (!earlier.wasSent) continue;
    const bearing = bearingOf(earlier, isRepeated(earlier, message));
    if (bearing === 'between') return { ...row, endsAt: earlier.id };
    if (bearing === 'repeated') row = { first: earlier };
  }
  return row;
}

/**
 * The stored token of the first request of a cashout with unknown outcome.
 * @returns undefined if no such cashout is recorded
 * @throws GatewayError `DATABASE_UNAVAILABLE`
 */
export async function firstCashout(
  journal: Pick<BetJournal, 'operationsOf'>,
  message: SettleRequest,
): Promise<string | undefined> {
  const newestFirst = await journal.operationsOf(message.transactionId);
  const first = newestFirst.findLast(
    (earlier) => isOpenResult(earlier) && isRepeated(earlier, message),
  );
  const parsed = first && parseBet('PUT', first.body);
  return parsed?.ok === true ? parsed.message.token : undefined;
}

/** Undefined for any other operation. */
export function settleIn({ body }: RecordedOperation): SettleRequest | undefined {
  const parsed = parseBet('PUT', body);
  return parsed.ok && parsed.message.operation === 'settle' ? parsed.message : undefined;
}

/** Whether a recorded operation requests the same result. A place never does, though its bytes read as an unsettle. */
function isRepeated({ operation, body }: RecordedOperation, message: BetRequest): boolean {
  if (!isResult(operation)) return false;
  const parsed = parseBet('PUT', body);
  return parsed.ok && askForSame(parsed.message, message);
}

function requestOf({ attemptId, body }: RecordedOperation): FirstRequest | undefined {
  const parsed = parseBet('PUT', body);
  if (!parsed.ok) return undefined;
  const { requestId, document } = parsed.message;
  return { requestId: requestId ?? attemptId, inBody: document.rawOf('requestId') };
}

/** What callbacks and the worker need to make dead letters. */
export interface LeavingToPerson extends Pick<Engine, 'bets' | 'logger'> {
  readonly confirmations: Confirmations;
}

/**
 * Makes a dead letter of the result of unknown outcome, unless there is one.
 * @returns false if the bet has no such result
 * @throws GatewayError `DATABASE_UNAVAILABLE`
 */
export async function leaveToPerson(
  { bets, confirmations, logger }: LeavingToPerson,
  bet: Bet,
): Promise<boolean> {
  const newestFirst = await bets.operationsOf(bet.transactionId);
  const open = newestFirst.find(isOpenResult);
  if (open === undefined) return false;
  if (await confirmations.leaveToPerson(bet, open.id, settleIn(open))) {
    const { transactionId, owner } = bet;
    logger.error({ operator: owner?.operatorId, transactionId }, 'delivery.left_to_person');
  }
  return true;
}
