import { describeExchange } from './answer-meaning.ts';
import type { Caller } from './caller.ts';
import { amountIn } from './money.ts';
import type { Sighting } from './recorded-call.ts';

/** What the first calls say about the wallet, before anything moves money. */
export type Examination =
  | {
      readonly kind: 'ready';
      readonly isTest: boolean;
      /** The player's money, decimal text; undefined where it cannot be read. */
      readonly balance: string | undefined;
      readonly balanceAnswer: string;
      /** It answered only when `x-sign` was sent as well. */
      readonly needsLegacySign: boolean;
    }
  | { readonly kind: 'unsure'; readonly why: string };

/**
 * Whether the wallet is a sandbox: its profile says so of the test player, `isTest: true`
 * (docs/protocol.md, User profile). No address or name is trusted for that; a wallet that says it
 * of a real player has a bug of its own.
 *
 * @param withLegacySign makes the line send `x-sign` too, for a second try
 */
export async function examine(caller: Caller, withLegacySign: () => void): Promise<Examination> {
  let profile = await caller.profile();
  let needsLegacySign = false;
  if (profile.meaning.kind === 'refused') {
    withLegacySign();
    const second = await caller.profile();
    needsLegacySign = second.meaning.kind === 'accepted';
    if (needsLegacySign) profile = second;
  }
  const why = whyUnsure(profile, caller.player.userId);
  if (why !== undefined) return { kind: 'unsure', why };
  const balance = await caller.balance();
  return {
    kind: 'ready',
    isTest: profile.meaning.kind === 'accepted' && profile.meaning.document?.value.isTest === true,
    balance: amountIn(balance.meaning),
    balanceAnswer: describeExchange(balance.exchange),
    needsLegacySign,
  };
}

function whyUnsure({ meaning, exchange }: Sighting, userId: string): string | undefined {
  if (meaning.kind !== 'accepted')
    return `the profile was not given: ${describeExchange(exchange)}`;
  const named = meaning.document?.value.userId;
  return named === userId
    ? undefined
    : `the token is not of ${userId}: the profile names another userId`;
}
