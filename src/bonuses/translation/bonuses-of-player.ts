import { playerOf } from './bonus-terms.ts';
import { entriesOf, idOf, type Json, memberOf } from './json-tree.ts';

/**
 * The entries of a list of a player's bonuses that are this player's. Undefined if only others are in it: then it is
 * the answer to another question, and an empty list would mean a player without bonuses, to whom they might be issued
 * again.
 */
export function bonusesOf(userId: string, list: Json): readonly Json[] | undefined {
  const all = entriesOf(memberOf(list, 'items'));
  const own = all.filter((item) => isOf(userId, item));
  return own.length === 0 && all.length > 0 ? undefined : own;
}

/** A bonus that names nobody is the player's who was asked for; a template has no `templateId`. */
function isOf(userId: string, item: Json): boolean {
  const player = playerOf(item);
  return player === undefined ? idOf(item, 'templateId') !== undefined : player === userId;
}
