import { isNonNegativeFinite } from '../../../domain/amount.ts';
import { contradiction } from '../../../domain/terms.ts';
import { membersOf } from '../../parts/exact-json.ts';
import { spanText } from '../../parts/times.ts';
import { type Tone, wordsOf } from '../../parts/tone.ts';
import {
  isResolvedByHand,
  refusedResult,
  type ShownAttempt,
  type ShownBet,
  type ShownOperation,
} from './bet.ts';
import { inOrder } from './order.ts';

/** A sentence of a bet's story. It may quote a wallet, so it must be shown by `Plain`. */
export interface Sentence {
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly tone: Tone;
  readonly text: string;
}

/** What happened, in order, for somebody who was not there. */
export function storyOf(bet: ShownBet): readonly Sentence[] {
  const sentences = inOrder(bet, (operation) => [
    arrival(bet, operation),
    ...operation.attempts.slice(0, 1).map((attempt) => tried(operation, attempt)),
    ...answerSentence(operation),
    ...operation.attempts.slice(1).map((attempt) => tried(operation, attempt)),
    ...promised(operation),
  ]);
  return sentences.map(({ event }) => event);
}

/** The bet's state now, in one sentence. */
export function stateOf(bet: ShownBet): { readonly tone: Tone; readonly text: string } {
  const stake = money(bet.amount, bet.currency);
  if (bet.inFlight !== null) {
    return { tone: 'info', text: `A ${bet.inFlight} is under way at this moment.` };
  }
  switch (bet.state) {
    case 'rolled_back':
      return { tone: 'good', text: `The bet is rolled back: no stake is held at the wallet.` };
    case 'rolling_back':
      return rollingBack(bet, stake);
    case 'settled':
      return { tone: 'good', text: settled(bet) };
    case 'settlement_unknown':
      return {
        tone: 'bad',
        text:
          bet.settlement.resultType === 'unsettle'
            ? 'The result was taken back and nobody knows whether the wallet has done so.'
            : 'A result was sent and nobody knows whether the wallet took it.',
      };
    case 'accepted':
      return bet.settlement.state === 'unsettled' ? takenBack(bet, stake) : noResult(bet, stake);
    case 'declined':
      return { tone: 'quiet', text: 'The wallet refused the bet: no money moved.' };
    case 'not_sent':
      return { tone: 'quiet', text: 'The bet was never sent to the wallet: no money moved.' };
    case 'unknown':
      return {
        tone: 'bad',
        text: `Nobody knows whether the wallet took the stake of ${stake}. A rollback closes this.`,
      };
    case 'in_flight':
      return { tone: 'info', text: 'The wallet is being asked.' };
    default:
      return { tone: 'quiet', text: `The bet is ${wordsOf(bet.state)}.` };
  }
}

/**
 * The state also stays `rolling_back` after a person has closed the rollback: no wallet has confirmed what moved.
 */
function rollingBack({ operations }: ShownBet, stake: string): ReturnType<typeof stateOf> {
  const isClosed = operations.some(
    ({ operation, delivery }) => operation === 'rollback' && delivery?.state === 'resolved',
  );
  return isClosed
    ? {
        tone: 'quiet',
        text: 'The bet is rolled back for the service. The wallet has never confirmed it: a person has closed the rollback by hand.',
      }
    : {
        tone: 'warn',
        text: `The bet is rolled back for the service; the wallet has not confirmed it yet, so the player may still miss ${stake}.`,
      };
}

function takenBack(bet: ShownBet, stake: string): ReturnType<typeof stateOf> {
  const text = isResolvedByHand(bet)
    ? `A person has resolved the result by hand: no wallet has confirmed it, and the stake of ${stake} is in play.`
    : `The result was taken back; the stake of ${stake} is in play again.`;
  return { tone: 'info', text };
}

function settled(bet: ShownBet): string {
  const { settlement, currency } = bet;
  const result = settlement.resultType === null ? '' : ` (${wordsOf(settlement.resultType)})`;
  if (isResolvedByHand(bet)) {
    return `A person has resolved the result by hand${result}: ${money(settlement.amount, currency)}, which no wallet has confirmed.`;
  }
  const paid = `The bet is settled${result}: the wallet paid ${money(settlement.amount, currency)}.`;
  return refusedResult(bet) === undefined
    ? paid
    : `${paid} It refused what the service sent about the result after that.`;
}

function noResult(bet: ShownBet, stake: string): ReturnType<typeof stateOf> {
  const held = `The wallet holds the stake of ${stake}`;
  switch (refusedResult(bet)) {
    case undefined:
      return { tone: 'info', text: `${held}; there is no result yet.` };
    case 'cashout':
      return { tone: 'info', text: `${held}. It refused the cashout; there is no result yet.` };
    default:
      return { tone: 'warn', text: `${held}, and has refused the result: it has paid nothing.` };
  }
}

const ASKED: Readonly<Record<string, string>> = {
  place: 'The service asked to place the bet',
  settle: 'The service sent the result',
  unsettle: 'The service took the result back',
  rollback: 'The service asked to roll the bet back',
  update: 'The service sent new coefficients',
};

function arrival(
  bet: ShownBet,
  { operation, receivedAt, request, askedBy }: ShownOperation,
): Sentence {
  const begun =
    askedBy === 'gateway'
      ? `The gateway itself began a ${operation}, because the service had sent none`
      : undefined;
  const { amount, resultType } =
    operation === 'settle' || operation === 'place' ? membersOf(request) : {};
  const kind = operation === 'settle' && resultType ? ` (${wordsOf(resultType)})` : '';
  const of = amount === undefined ? '' : `: ${money(amount, bet.currency)}${kind}`;
  const contradicts = operation === 'rollback' ? whatItNames(bet, membersOf(request)) : undefined;
  return {
    at: receivedAt,
    tone: contradicts === undefined ? 'info' : 'warn',
    text: `${begun ?? ASKED[operation] ?? `The service sent a ${operation}`}${of}${contradicts ?? ''}.`,
  };
}

/** A rollback carries the journal's stake and currency to the wallet, not its own. */
function whatItNames(
  bet: ShownBet,
  { amount, currency }: ReturnType<typeof membersOf>,
): string | undefined {
  const isAmount = amount !== undefined && isNonNegativeFinite(amount);
  const said = { amount: isAmount ? amount : undefined, currency };
  const known = { amount: bet.amount ?? undefined, currency: bet.currency ?? undefined };
  if (contradiction('rollback', known, said) === undefined) return undefined;
  const named = money(said.amount ?? bet.amount, said.currency ?? bet.currency);
  return `, naming ${named}, of which no wallet is told`;
}

function tried({ attempts }: ShownOperation, attempt: ShownAttempt): Sentence {
  const which = attempts.length === 1 ? 'The wallet' : `Attempt ${attempt.number}: the wallet`;
  return { at: endOf(attempt), tone: attemptTone(attempt), text: `${which} ${said(attempt)}.` };
}

function said({ result, latencyMs, error }: ShownAttempt): string {
  const why = error ?? wordsOf(result);
  switch (result) {
    case 'accepted':
      return `accepted it after ${spanText(latencyMs)}`;
    case 'declined':
      return `refused it after ${spanText(latencyMs)}: ${why}`;
    case 'timeout':
      return `gave no answer in time (${why}), so nobody knew whether it took it`;
    case 'http_error':
    case 'bad_answer':
      return `gave no valid answer: ${why}`;
    case 'connection':
      // Refused, or broken after the request was sent: only the error's own words tell which.
      return `gave no answer: ${why}`;
    default:
      return `was not asked: ${why}`;
  }
}

/** When the outcome of an attempt was known, ISO 8601 UTC. */
export function endOf({ startedAt, latencyMs }: ShownAttempt): string {
  return new Date(Date.parse(startedAt) + latencyMs).toISOString();
}

export function attemptTone({ result }: ShownAttempt): Tone {
  if (result === 'accepted') return 'good';
  return result === 'declined' ? 'warn' : 'bad';
}

function answerSentence({ answer, attempts, receivedAt }: ShownOperation): readonly Sentence[] {
  if (answer === null) return [];
  const [first] = attempts;
  const code = membersOf(answer.body).code;
  const isGood = answer.status === 200;
  const words = isGood
    ? 'yes (200)'
    : `${answer.status}${code === undefined ? '' : ` with code ${code}`}`;
  return [
    {
      at: first === undefined ? receivedAt : endOf(first),
      tone: isGood ? 'good' : 'warn',
      text: `The service was told ${words}${code === '100' ? ', which makes it roll the bet back or ask again' : ''}.`,
    },
  ];
}

function promised({
  delivery,
  operation,
  attempts,
  receivedAt,
}: ShownOperation): readonly Sentence[] {
  if (delivery === null) return [];
  const last = attempts.at(-1);
  const at = last === undefined ? receivedAt : endOf(last);
  const tell = (tone: Tone, text: string): readonly Sentence[] => [{ at, tone, text }];
  switch (delivery.state) {
    case 'held':
      return tell(
        'warn',
        `The ${operation} is promised, and held: the gateway goes on trying once its operator takes deliveries again, or the bet is released.`,
      );
    case 'pending':
      return tell('warn', `The ${operation} is promised: the gateway goes on trying by itself.`);
    case 'dead':
      return tell('bad', `The gateway has given up on the ${operation}: a person has to decide.`);
    case 'delivered':
      return tell('good', `The ${operation} was delivered: the wallet confirmed it.`);
    case 'resolved':
      return tell('good', `A person has closed the ${operation} by hand.`);
    case 'superseded':
      return tell('quiet', `${voidBy(operation)}.`);
    default:
      return tell('quiet', `The delivery of the ${operation} is ${wordsOf(delivery.state)}.`);
  }
}

/** An update ends also where its wallet takes none, and a result where it is known already. */
function voidBy(operation: string): string {
  const later = `A later operation has made the ${operation} void`;
  if (operation === 'update') return `${later}, or its wallet takes none`;
  return operation === 'rollback' ? later : `${later}, or the wallet held this result already`;
}

function money(amount: string | null | undefined, currency: string | null): string {
  return amount == null ? 'an unknown amount' : `${amount} ${currency ?? ''}`.trimEnd();
}
