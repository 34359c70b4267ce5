import type { Bet } from '../domain/bet.ts';
import { SECOND_TIME_FACTOR } from '../domain/confirm.ts';
import { isOpenResult } from '../domain/course.ts';
import { isResult } from '../domain/operation.ts';
import { type AnsweredResult, decideResolve, promisedAmong } from '../domain/resolve.ts';
import { isoTime } from '../protocol/answers.ts';
import { parseBet } from '../protocol/messages.ts';
import type { RecordedOperation } from '../store/bets/journal.ts';
import type {
  PersonsWord,
  ResolvedResult,
  ResultFound,
  ResultItem,
  UnknownResults,
} from '../store/bets/unknown-results.ts';
import { settleIn } from './first-request.ts';

/** Decisions to try if the bet changes meanwhile. */
const ROUNDS_MAX = 3;
/** With shorter confirmations, perhaps no worker has counted them. */
const LATE_MS_MIN = 3_600_000;

/**
 * Ends the doubt about a bet's result by a person's finding (docs/money-safety.md): the journal then answers that
 * result, and any other is sent.
 * @param confirmAfterMs the operator's `delivery.confirmUnknownAfterMs`
 * @throws GatewayError `DATABASE_UNAVAILABLE`
 */
export async function resolveResult(
  results: UnknownResults,
  transactionId: string,
  { found, ...word }: PersonsWord,
  confirmAfterMs: (operatorId: string) => number,
): Promise<ResolvedResult> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const read = await results.find(transactionId);
    if (read === undefined) return { kind: 'missing' };
    const { bet, nowMs, operations } = read;
    const confirmMs = bet.owner === undefined ? 0 : confirmAfterMs(bet.owner.operatorId);
    const decision = decideResolve(bet, found, {
      nowMs,
      promised: promisedAmong(read.dead, answeredResults(operations)),
      lateMsMax: Math.max(LATE_MS_MIN, SECOND_TIME_FACTOR * confirmMs),
      transactionTime: isoTime(nowMs),
    });
    if (decision.kind === 'refused') return decision;
    // A person may have resolved the open one before, after a later result had overtaken it.
    const open = operations.find(isOpenResult) ?? operations.find(wasSentResult);
    if (open === undefined) return { kind: 'refused', why: 'Its messages are no longer on record' };
    const attempted = settleIn(open);
    const { settlement } = decision;
    if (await results.resolve({ ...word, bet, operationId: open.id, attempted, settlement })) {
      return { kind: 'resolved', item: itemOf(bet, settlement) };
    }
  }
  return { kind: 'refused', why: 'The bet is changing at this moment: try again' };
}

/** Results in the rules' form; a place is none, though its bytes read as an unsettle. */
function answeredResults(operations: readonly RecordedOperation[]): readonly AnsweredResult[] {
  return operations
    .filter(({ operation }) => isResult(operation))
    .map(({ id, body, answer }) => {
      const parsed = parseBet('PUT', body);
      const asked = parsed.ok ? parsed.message : undefined;
      return { operationId: id, answerStatus: answer?.status, asked };
    });
}

function wasSentResult({ operation, wasSent }: RecordedOperation): boolean {
  return isResult(operation) && wasSent;
}

function itemOf({ transactionId, owner }: Bet, settlement: ResultFound['settlement']): ResultItem {
  const { amount, resultType } =
    settlement.kind === 'settled' ? settlement : { amount: null, resultType: null };
  return {
    transactionId,
    operator: owner?.operatorId ?? null,
    settlement: { state: settlement.kind, amount, resultType },
  };
}
