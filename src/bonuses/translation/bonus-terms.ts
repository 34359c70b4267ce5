import type { BonusCall, Bonuses } from '../context.ts';
import type { Json } from './json-tree.ts';
import type { Terms } from './terms.ts';
import { idsIn } from './translate.ts';

/**
 * The terms for translating an answer: ids in it are looked up among this operator's players only.
 * @param known players of the call itself, from the aggregator's ids to the operator's
 */
export async function termsFor(
  { players }: Pick<Bonuses, 'players'>,
  call: Pick<BonusCall, 'operator' | 'account'>,
  answer: Json | undefined,
  known: ReadonlyMap<string, string> = new Map(),
): Promise<Terms> {
  const ids = answer === undefined ? [] : [...(await idsIn(answer))];
  const unknown = ids.filter((id) => !known.has(id));
  const found = unknown.length === 0 ? [] : await players.namesOf(call.operator.id, unknown);
  return {
    ...termsOf(call),
    userOf: new Map([...known, ...found]),
  };
}

/** The terms without any look-up: only the call's own players are known. */
export function termsOf(
  { account, operator }: Pick<BonusCall, 'operator' | 'account'>,
  known: ReadonlyMap<string, string> = new Map(),
): Terms {
  const { cid: serviceCid, masked } = account;
  return { serviceCid, operatorCid: operator.api.cid, masked, userOf: known };
}
