import type { OwnedBonus } from '../../store/bonuses/ownership.ts';
import { entriesOf, idOf, type Json, memberOf } from './json-tree.ts';
import type { Terms } from './terms.ts';

/** The service's id of a bonus's player; undefined if it names none. */
export function playerOf(bonus: Json): string | undefined {
  const userId = memberOf(bonus, 'userId');
  if (userId?.kind === 'text') return userId.value;
  return userId?.kind === 'number' ? userId.raw : undefined;
}

/** The bonuses of a list: its entries that are objects. */
export function bonusesIn(list: Json | undefined): readonly Json[] {
  return entriesOf(list).filter((entry) => entry.kind === 'object');
}

/** The entries that are this player's; undefined if there are only others': then it answers another question. */
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

/** Those of a list's bonuses that belong to players of the operator. */
export function owned(list: Json | undefined, { userOf }: Terms): readonly OwnedBonus[] {
  return bonusesIn(list).flatMap((bonus) => ownedBonus(bonus, userOf) ?? []);
}

function ownedBonus(bonus: Json, userOf: ReadonlyMap<string, string>): OwnedBonus | undefined {
  const bonusId = idOf(bonus, 'id');
  const userId = playerOf(bonus);
  if (bonusId === undefined || userId === undefined || !userOf.has(userId)) return undefined;
  return { bonusId, templateId: idOf(bonus, 'templateId'), userId };
}
