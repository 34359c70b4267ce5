import { asksForResult, resultOf } from '../domain/asked.ts';
import {
  type Conclusion,
  concludeResult,
  concludeRollback,
  concludeUpdate,
} from '../domain/conclude.ts';
import { CHANGES_NOTHING, concludeConfirmation } from '../domain/confirm.ts';
import { type AfterAttempt, whyHeld } from '../domain/delivery.ts';
import { GatewayError } from '../domain/errors.ts';
import { UNRELEASED } from '../domain/generation.ts';
import { unreachable } from '../domain/unreachable.ts';
import type { BetAnswer } from '../domain/wallet-answer.ts';
import { type BetRequest, type ParseResult, parseBet } from '../protocol/messages.ts';
import { betToken } from '../sessions/bet-token.ts';
import type { TakenDelivery } from '../store/deliveries/claim-statements.ts';
import type { Wallet } from '../wallets/call.ts';
import { type Attempt, record, type SendPermit, type Tried, tryOnce } from './attempt.ts';
import { attemptToCall, companionsOf, UNREAD } from './call-wallet.ts';
import { countAttempt, logAttempt, tracedAttempt } from './delivery-log.ts';
import type { Engine } from './engine.ts';
import { firstCashout } from './first-request.ts';
import { concludePromised } from './promise.ts';

export interface TriedDelivery extends Tried {
  readonly taken: TakenDelivery;
  readonly after: AfterAttempt;
}

/**
 * Attempts one claimed delivery; if its process dies before the record, the lease's end repeats it, which the protocol
 * allows (I4). Never rejects: a poison message fails, and becomes a dead letter.
 * @param permit created before the row was claimed
 * @param generation of the wallet at the claim: another one may be configured meanwhile
 */
export async function tryDelivery(
  engine: Engine,
  wallet: Wallet,
  taken: TakenDelivery,
  permit: SendPermit,
  generation: number,
): Promise<TriedDelivery> {
  const parsed = messageOf(taken);
  const promised = { ...taken, isCounted: true };
  const conclude = (sent: BetAnswer) =>
    concludePromised(engine, wallet, promised, sent, (after) => {
      if (taken.purpose === 'confirm')
        return concludeConfirmation(taken.bet, taken.attempts, after);
      return parsed.ok ? conclusionOf(taken, parsed.message, sent) : CHANGES_NOTHING;
    });
  const attempt: Attempt = parsed.ok
    ? deliveryAttempt(engine, wallet, taken, parsed.message, generation, conclude)
    : {
        transactionId: taken.transactionId,
        attemptId: taken.attemptId,
        operatorId: taken.owner.operatorId,
        operation: taken.operation,
        deadline: undefined,
        call: async () => unsendable(parsed.why),
        conclude,
      };
  const { operationId, bet } = taken;
  const tried = await tryOnce(engine, attempt, { operationId, bet }, permit);
  return { ...tried, taken, after: afterOf(tried) };
}

function afterOf({ concluded: { delivery } }: Tried): AfterAttempt {
  if (delivery.kind !== 'after') throw new Error('the attempt of no delivery');
  return delivery.after;
}

/** The request, or why there is none to send. */
function messageOf({ body }: TakenDelivery): ParseResult<BetRequest> {
  const parsed = parseBet('PUT', body);
  return parsed.ok ? parsed : { ...parsed, why: `it holds no message: ${parsed.why}` };
}

/** Records, counts and logs an attempt's outcome. If unwritten, the delivery is repeated after its lease. */
export async function recordDelivery(engine: Engine, tried: TriedDelivery): Promise<void> {
  const { committedInTime } = await record(engine, tried);
  const { after } = tried;
  if (!committedInTime || after.kind === 'unsent') return;
  countAttempt(engine, tried.taken, tried.sent, after);
  logAttempt(engine, tried.taken, tried.sent, after);
}

/** @param generation of the wallet at the claim, for which releases were checked */
function deliveryAttempt(
  engine: Engine,
  wallet: Wallet,
  taken: TakenDelivery,
  message: BetRequest,
  generation: number,
  conclude: Attempt['conclude'],
): Attempt {
  const { owner, attemptId, operationId, bet } = taken;
  const books = { generation, ...UNRELEASED };
  const hadResult = bet.settlement.kind !== 'none';
  const request = { message, attemptId, owner, books, terms: bet, hadResult };
  const companions = async () => {
    const cashoutToken = await cashoutTokenOf(engine, taken, message);
    const from = { ...bet, sealedToken: taken.sealedToken };
    return await companionsOf(engine, wallet, message, from, { operationId }, cashoutToken);
  };
  const attempt = attemptToCall(engine, wallet, request, undefined, companions, conclude);
  const holdsRepeats = wallet.callerDialect.holdUnknownRepeats;
  const held =
    holdsRepeats && asksForResult(message)
      ? whyHeld(taken, bet.settlement, resultOf(message))
      : undefined;
  return {
    ...attempt,
    call: async (sending) => {
      if (held !== undefined) return unsendable(`${held}, and the wallet would pay a repeat again`);
      return await tracedAttempt(engine, taken, () =>
        attempt.call(sending).catch((error: unknown) => notCalled(engine, taken, error)),
      );
    },
  };
}

/** What the wallet's answer to a promised operation means for its bet. The service's answer never changes. */
function conclusionOf(
  { transactionTime: promisedTime, bet }: TakenDelivery,
  message: BetRequest,
  sent: BetAnswer,
): Conclusion {
  switch (message.operation) {
    case 'place':
      return CHANGES_NOTHING;
    case 'rollback':
      return concludeRollback(bet, sent, { promisedTime, isAnswered: true });
    case 'update': {
      const key = message.coefficientsKey;
      return concludeUpdate(sent, { key, promisedTime, isAnswered: true, before: undefined });
    }
    case 'settle':
    case 'unsettle':
      return concludeResult(bet, resultOf(message), sent, {
        tokenIsChecked: false,
        answeredTime: promisedTime,
      });
    default:
      return unreachable(message);
  }
}

function unsendable(error: string): BetAnswer {
  return { kind: 'unknown', fault: 'bad_answer', trace: { sent: false, latencyMs: 0, error } };
}

/** PostgreSQL did not return what the call needs, or a fault of ours prevents it. */
function notCalled({ logger }: Engine, taken: TakenDelivery, error: unknown): BetAnswer {
  if (error instanceof GatewayError) return UNREAD;
  const facts = { err: error, operator: taken.owner.operatorId, delivery: taken.id };
  logger.error(facts, 'delivery.unsendable');
  return unsendable(`it cannot be sent: ${error}`);
}

/** Of the session that requested the cashout: the place's may have ended. A repeat without one gets the first one's. */
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
