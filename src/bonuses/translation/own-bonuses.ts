import type { OwnedBonus } from '../../store/bonuses/ownership.ts';
import { bonusesIn, playerOf } from './bonus-terms.ts';
import { idOf, type Json } from './json-tree.ts';
import type { Terms } from './terms.ts';

/**
 * Those of a list's bonuses that belong to players of the operator (docs/contract.md, Operator
 * API).
 */
export function owned(list: Json | undefined, { userOf }: Terms): readonly OwnedBonus[] {
  return bonusesIn(list).flatMap((bonus) => ownedBonus(bonus, userOf) ?? []);
}

function ownedBonus(bonus: Json, userOf: ReadonlyMap<string, string>): OwnedBonus | undefined {
  const bonusId = idOf(bonus, 'id');
  const userId = playerOf(bonus);
  if (bonusId === undefined || userId === undefined || !userOf.has(userId)) return undefined;
  return { bonusId, templateId: idOf(bonus, 'templateId'), userId };
}
