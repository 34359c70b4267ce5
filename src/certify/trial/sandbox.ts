import { CODES } from '../../domain/codes.ts';
import type { Exchange } from '../../outbound/http-call.ts';
import type { JsonDocument } from '../../protocol/json.ts';
import { type AnswerMeaning, describeExchange } from '../calls/answer-meaning.ts';
import type { ServiceCaller } from '../calls/caller.ts';
import type { RecordedCall } from '../calls/recorded-call.ts';
import { amountIn } from './money.ts';

/** What the first calls say about the wallet, before anything moves money. */
export type Examination =
  | {
      readonly kind: 'ready';
      readonly isTest: boolean;
      /** The player's money, decimal text; undefined if it cannot be read. */
      readonly balance: string | undefined;
      readonly balanceAnswer: string;
      /** It answered only when `x-sign` was sent as well. */
      readonly needsLegacySign: boolean;
    }
  | {
      readonly kind: 'unsure';
      readonly why: string;
      /** The wallet named another player: the wrong token was given. */
      readonly isOtherPlayer: boolean;
      /** The calls that showed it. */
      readonly calls: readonly RecordedCall[];
    };

/**
 * Whether the wallet is a sandbox: the test player's profile says `isTest: true`. No name is trusted for that.
 * @param withLegacySign makes the connection send `x-sign` too, for a second try
 */
export async function examine(
  caller: ServiceCaller,
  withLegacySign: () => void,
): Promise<Examination> {
  const calls = [await caller.profile()];
  let [profile] = calls;
  let needsLegacySign = false;
  if (profile?.answer.kind === 'refused') {
    withLegacySign();
    const second = await caller.profile();
    calls.push(second);
    needsLegacySign = second.answer.kind === 'accepted';
    if (needsLegacySign) profile = second;
  }
  if (profile === undefined) throw new Error('a profile was asked for');
  const { answer, exchange } = profile;
  if (answer.kind !== 'accepted') {
    return { kind: 'unsure', why: refusalOf(answer, exchange), isOtherPlayer: false, calls };
  }
  const userId = answer.document === undefined ? undefined : userIdIn(answer.document);
  if (answer.document === undefined || userId === undefined) {
    const why = `the profile has no userId: ${describeExchange(exchange)}`;
    return { kind: 'unsure', why, isOtherPlayer: false, calls };
  }
  if (userId !== caller.player.userId) {
    const why = `the token is not of ${caller.player.userId}: the profile names another userId`;
    return { kind: 'unsure', why, isOtherPlayer: true, calls };
  }
  const balance = await caller.balance();
  return {
    kind: 'ready',
    isTest: answer.document.value.isTest === true,
    balance: amountIn(balance.answer),
    balanceAnswer: describeExchange(balance.exchange),
    needsLegacySign,
  };
}

/** As text, even if it is a number: the form of the id is judged elsewhere. */
export function userIdIn(profile: JsonDocument): unknown {
  return profile.numberText('userId') ?? profile.value.userId;
}

/** The refusal in words that say where to look. */
function refusalOf(answer: AnswerMeaning, exchange: Exchange): string {
  const problem = `the profile was not given: ${describeExchange(exchange)}`;
  const code = answer.kind === 'refused' ? answer.code : undefined;
  switch (code) {
    case CODES.badSignature:
      return `${problem}, the wallet refuses the signature: is it the secret that it has?`;
    case CODES.invalidToken:
      return `${problem}, the token is unknown to the wallet, or was revoked`;
    case CODES.expiredToken:
      return `${problem}, the token is out of date: take a fresh one`;
    default:
      return problem;
  }
}
