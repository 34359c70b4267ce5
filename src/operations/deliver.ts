import { sameResult } from '../domain/bet.ts';
import { Deadline } from '../domain/deadline.ts';
import { GatewayError } from '../domain/errors.ts';
import type { BetAnswer } from '../domain/wallet-answer.ts';
import { type BetRequest, type ParseResult, parseBet } from '../protocol/messages.ts';
import { betToken } from '../sessions/bet-token.ts';
import type { TakenDelivery } from '../store/deliveries/taken.ts';
import type { Wallet } from '../wallets/call.ts';
import { carriesToken } from '../wallets/wallet-body.ts';
import { type Attempt, record, type Tried, tryOnce } from './attempt.ts';
import { callWallet, UNREAD } from './call-wallet.ts';
import { concludeDelivery, type DeliveryConcluded } from './delivery-conclusion.ts';
import { countAttempt, logAttempt, tracedAttempt } from './delivery-log.ts';
import { deliverySettings } from './delivery-settings.ts';
import type { Engine } from './engine.ts';
import { finishBet } from './finish-bet.ts';
import { firstCashout, firstRequest } from './first-request.ts';
import { isResultRequest, resultIn } from './result-in.ts';
import type { Sending, SendPermit } from './send-permit.ts';
import { UNRELEASED } from './wallet-generation.ts';

export type TriedDelivery = Tried<DeliveryConcluded> & { readonly taken: TakenDelivery };

/**
 * Attempts one claimed delivery, through the same engine as a callback. If the process is killed before
 * the outcome is recorded, the delivery is repeated after the lease; the protocol makes every delivery
 * repeatable (I4).
 * @param permit created before the row was claimed
 * @param generation of the wallet that it was claimed for: another one may be configured meanwhile
 * @returns never rejects: a delivery that cannot even be sent counts as a failed attempt, so that a
 *   poison message becomes a dead letter and affects nothing else
 */
export async function tryDelivery(
  engine: Engine,
  wallet: Wallet,
  taken: TakenDelivery,
  permit: SendPermit,
  generation: number,
): Promise<TriedDelivery> {
  const parsed = messageOf(taken);
  const attempt: Omit<Attempt<DeliveryConcluded>, 'finish'> = {
    transactionId: taken.transactionId,
    attemptId: taken.attemptId,
    operatorId: taken.owner.operatorId,
    operation: taken.operation,
    deadline: undefined,
    call: async (sending) => {
      if (!parsed.ok) return unsendable(parsed.why);
      const held = whyHeld(wallet, taken, parsed.message);
      if (held !== undefined) return unsendable(`${held}, and the wallet would pay a repeat again`);
      return await tracedAttempt(engine, taken, () =>
        call(engine, wallet, taken, generation, parsed.message, sending),
      );
    },
    conclude: (sent) => {
      const settings = deliverySettings(engine.configuration(), taken.owner.operatorId);
      const message = parsed.ok ? parsed.message : undefined;
      return concludeDelivery(settings, wallet, taken, message, sent);
    },
  };
  const finished = { ...attempt, finish: finishBet(engine, attempt) };
  return { ...(await tryOnce(engine, finished, taken.operationId, permit)), taken };
}

/** The request, or why there is none to send. */
function messageOf({ body }: TakenDelivery): ParseResult<BetRequest> {
  if (body === undefined) {
    const why = 'its request is missing: the journal lacks the tables of its month';
    return { ok: false, field: undefined, why };
  }
  const parsed = parseBet('PUT', body);
  return parsed.ok ? parsed : { ...parsed, why: `it holds no message: ${parsed.why}` };
}

/**
 * Records the outcome of an attempt, counts it and logs it. If it cannot be written, the lease
 * ends and the delivery is repeated.
 */
export async function recordDelivery(engine: Engine, tried: TriedDelivery): Promise<void> {
  const { committedInTime } = await record(engine, tried);
  const { after } = tried.concluded.delivery;
  if (!committedInTime || after.kind === 'unsent') return;
  countAttempt(engine, tried.taken, tried.sent, after);
  logAttempt(engine, tried.taken, tried.sent, after);
}

/**
 * A wallet that pays repeats twice (`unknownRepeats: hold`) may have got this result from a process that was killed, or
 * before the item was set: then only a person may send it again, by retrying this delivery. A result that such a wallet
 * has confirmed is not sent again to confirm it.
 * @returns why it is not sent; undefined if it is
 */
function whyHeld(
  wallet: Wallet,
  { purpose, bet, isSentOnceMore }: TakenDelivery,
  message: BetRequest,
): string | undefined {
  if (!wallet.callerDialect.holdUnknownRepeats || !isResultRequest(message)) return undefined;
  if (purpose === 'confirm') return 'it is confirmed already';
  const { settlement } = bet;
  if (settlement.kind !== 'unknown') return undefined;
  if (settlement.attempted.kind === 'several') return 'the process that sent it was lost';
  // Even if this delivery itself was never attempted: the same result may have been promised again behind another one.
  const isRepeat = sameResult(resultIn(message), settlement.attempted);
  return isRepeat && !isSentOnceMore ? 'it may have been taken before' : undefined;
}

function unsendable(error: string): BetAnswer {
  return { kind: 'unknown', fault: 'bad_answer', trace: { sent: false, latencyMs: 0, error } };
}

async function call(
  engine: Engine,
  wallet: Wallet,
  taken: TakenDelivery,
  generation: number,
  message: BetRequest,
  sending: Sending,
): Promise<BetAnswer> {
  const { clock } = engine;
  const { totalMs, reserveMs } = engine.configuration().gateway.deadline;
  const { alwaysSendToken, stableRequestId } = wallet.callerDialect;
  try {
    const cashoutToken = await cashoutTokenOf(engine, taken, message);
    const looksForToken =
      cashoutToken === undefined && carriesToken(message.document, alwaysSendToken);
    const operatorToken = looksForToken ? await tokenFor(engine, taken, message) : undefined;
    const first = stableRequestId
      ? await firstRequest(engine.bets, message, { operationId: taken.operationId })
      : undefined;
    const { owner, attemptId, bet } = taken;
    const books = { generation, ...UNRELEASED };
    const hadResult = bet.settlement.kind !== 'none';
    const tokens = { operatorToken, cashoutToken };
    const request = { message, attemptId, owner, books, terms: bet, ...tokens, first, hadResult };
    const deadline = new Deadline(clock, clock.monotonicMs(), totalMs, reserveMs);
    return await callWallet(engine, wallet, request, deadline, sending);
  } catch (error) {
    if (error instanceof GatewayError) return UNREAD;
    const facts = { err: error, operator: taken.owner.operatorId, delivery: taken.id };
    engine.logger.error(facts, 'delivery.unsendable');
    return unsendable(`it cannot be sent: ${error}`);
  }
}

/** The token came with the claimed row; only for a bet whose place was never seen it has to be looked up. */
async function tokenFor(
  { sessions }: Engine,
  taken: TakenDelivery,
  message: BetRequest,
): Promise<string | undefined> {
  if (taken.sealedToken !== undefined) return sessions.unseal(taken.sealedToken);
  return await betToken(sessions, taken, message.token);
}

/**
 * The token of a cashout is that of the session that requested it; the one the bet was placed with may have ended
 * long ago. A repeat without a token of its player gets that of the first cashout.
 */
async function cashoutTokenOf(
  { sessions, bets }: Engine,
  { owner }: TakenDelivery,
  message: BetRequest,
): Promise<string | undefined> {
  if (message.operation !== 'settle' || message.resultType !== 'cashout') return undefined;
  const ofPlayer = (token: string | undefined) =>
    betToken(sessions, { sessionId: undefined, owner }, token);
  return (await ofPlayer(message.token)) ?? (await ofPlayer(await firstCashout(bets, message)));
}
