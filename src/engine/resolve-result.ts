import type { Bet } from '../domain/bet.ts';
import { decideResolve } from '../domain/resolve.ts';
import { isoTime } from '../protocol/answers.ts';
import { parseBet } from '../protocol/messages.ts';
import type {
  PersonsWord,
  ResolvedResult,
  ResultFound,
  ResultItem,
  UnknownResults,
} from '../store/bets/unknown-results.ts';
import { isOpenResult } from './first-request.ts';

/** How often it is decided if the bet changes at that moment. */
const ROUNDS_MAX = 3;

/**
 * Ends the doubt about a bet whose result got no answer, by what a person has found in the wallet's books
 * (docs/money-safety.md). From then on it is the bet's result: a copy of it is answered from the journal, any other
 * result is sent.
 * @throws GatewayError `DATABASE_UNAVAILABLE`
 */
export async function resolveResult(
  results: UnknownResults,
  transactionId: string,
  { found, ...word }: PersonsWord,
): Promise<ResolvedResult> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const read = await results.find(transactionId);
    if (read === undefined) return { kind: 'missing' };
    const { nowMs, promised } = read;
    const transactionTime = isoTime(nowMs);
    const decision = decideResolve(read.bet, found, { nowMs, promised, transactionTime });
    if (decision.kind === 'refused') return decision;
    const open = read.operations.find(isOpenResult);
    if (open === undefined) return { kind: 'refused', why: 'Its messages are no longer on record' };
    const parsed = parseBet('PUT', open.body);
    const isSettle = parsed.ok && parsed.message.operation === 'settle';
    const attempted = isSettle ? parsed.message : undefined;
    const { bet } = read;
    const { settlement } = decision;
    if (await results.resolve({ ...word, bet, operationId: open.id, attempted, settlement })) {
      return { kind: 'resolved', item: itemOf(bet, settlement) };
    }
  }
  return { kind: 'refused', why: 'The bet is changing at this moment: try again' };
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
