import type { Case } from './case.ts';
import { CASES } from './cases/index.ts';
import { GROUPS, type Group } from './certificate/certificate.ts';

/** A group's name or a case's id. */
export type Selection = string;

/** The case that makes calls of every kind, for the cases that judge all answers. */
const JOURNEY = 'shape-journey';

/** Whether all cases are selected. */
export function isEverything(only: readonly Selection[]): boolean {
  return only.length === 0 || GROUPS.every((name) => only.includes(name));
}

/** The cases to run; all if none is selected. */
export function casesOf(only: readonly Selection[]): readonly Case[] {
  if (isEverything(only)) return CASES;
  const chosen = CASES.filter(({ id, group }) => only.includes(id) || only.includes(group));
  const needsAnswers = chosen.some(({ judgesAnswers }) => judgesAnswers === true);
  const journey = needsAnswers ? [JOURNEY] : [];
  return CASES.filter((one) => chosen.includes(one) || journey.includes(one.id));
}

/** @returns that there is no such group or case; undefined if there is */
export function unknownSelection(name: string): string | undefined {
  const isKnown = isGroup(name) || CASES.some(({ id }) => id === name);
  if (isKnown) return undefined;
  const near = CASES.map(({ id }) => id).filter((id) => id.includes(name));
  const meant = near.length === 0 ? '' : `; there is ${near.slice(0, 5).join(', ')}`;
  return `${name} is neither a group (${GROUPS.join(', ')}) nor a case${meant}`;
}

function isGroup(name: string): name is Group {
  return GROUPS.some((group) => group === name);
}
