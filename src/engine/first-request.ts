import { isResult } from '../domain/operation.ts';
import { jsonString } from '../protocol/json.ts';
import { type BetRequest, parseBet, type SettleRequest } from '../protocol/messages.ts';
import type { BetJournal, RecordedOperation } from '../store/bets/journal.ts';
import { askForSameResult, isResultRequest, type ResultRequest } from './result-in.ts';

/** The ids of the request with which a wallet first saw an operation. */
export interface FirstRequest {
  /** For the header `x-request-id`. */
  readonly requestId: string;
  /** Raw JSON of the member `requestId` of its body; undefined if it had none. */
  readonly inBody: string | undefined;
}

/**
 * What a repeat has to carry for a wallet that treats every `requestId` as a separate operation
 * (dialect `stableRequestId`): there a result that the service repeats under a new one, because the
 * first got no answer, would be paid a second time.
 *
 * A repeat is the same result as the one requested directly before it, which the wallet has neither
 * accepted nor refused. With another result in between, or after an answer, it is a new operation:
 * under the old `requestId` such a wallet would do nothing at all, even if the service itself sends that one again.
 * What has changed nothing at the wallet does not count as in between: a result that no wallet ever saw (a cancelled
 * promise, a refused connection), or another one that it has refused.
 *
 * @param of the operation itself if it is already in the journal, otherwise the attempt that is going to write it
 * @returns undefined if the message is the first one itself
 * @throws GatewayError `DATABASE_UNAVAILABLE`
 */
export async function firstRequest(
  journal: Pick<BetJournal, 'operationsOf'>,
  message: BetRequest,
  of: { readonly operationId: string } | { readonly attemptId: string },
): Promise<FirstRequest | undefined> {
  const all = await journal.operationsOf(message.transactionId);
  const newestFirst = all.filter(({ operation }) => operation !== 'place');
  const own = 'operationId' in of ? newestFirst.findIndex(({ id }) => id === of.operationId) : -1;
  const itself = newestFirst[own];
  if (!isResultRequest(message)) return itself && requestOf(itself);
  const before = newestFirst
    .slice(own + 1)
    .filter(({ operation, wasSent }) => isResult(operation) && wasSent);
  const { first = itself, older } = rowOfRepeats(before, message);
  const requestId = first === undefined ? message.requestId : first.requestId;
  const attemptId = first?.attemptId ?? ('attemptId' in of ? of.attemptId : undefined);
  const isTaken = requestId !== undefined && older.some((one) => one.requestId === requestId);
  if (isTaken && attemptId !== undefined) {
    return { requestId: attemptId, inBody: jsonString(attemptId) };
  }
  return first && requestOf(first);
}

/**
 * @param before the earlier results that a wallet may have seen, newest first
 * @returns the oldest of the unbroken row of repeats, if there is one, and the results before that row
 */
function rowOfRepeats(before: readonly RecordedOperation[], message: ResultRequest) {
  let first: RecordedOperation | undefined;
  for (const [at, earlier] of before.entries()) {
    if (isRepeated(earlier, message)) {
      if (earlier.isConcluded) return { first, older: before.slice(at) };
      first = earlier;
    } else if (!earlier.isRefused) return { first, older: before.slice(at) };
  }
  return { first, older: [] };
}

/**
 * The token that a cashout of unknown outcome was first sent with, as the journal keeps it.
 * @returns undefined if no such cashout is on record
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

/** Whether this result may have reached a wallet, with an unknown outcome. */
export function isOpenResult({ operation, wasSent, isConcluded }: RecordedOperation): boolean {
  return isResult(operation) && wasSent && !isConcluded;
}

function isRepeated(earlier: RecordedOperation, message: ResultRequest): boolean {
  const parsed = parseBet('PUT', earlier.body);
  return parsed.ok && askForSameResult(parsed.message, message);
}

function requestOf({ attemptId, body }: RecordedOperation): FirstRequest | undefined {
  const parsed = parseBet('PUT', body);
  if (!parsed.ok) return undefined;
  const { requestId, document } = parsed.message;
  return { requestId: requestId ?? attemptId, inBody: document.rawOf('requestId') };
}
