/**
 * The bonus API's seven methods, by what stands behind `/bonuses/` (docs/protocol.md, Bonus API).
 */
export const BONUS_METHODS = [
  'templates',
  'template',
  'templates/add',
  'player/bonuses',
  'bonus',
  'bonus/applyBatch',
  'bonus/revokeBatch',
] as const;

export type BonusMethod = (typeof BONUS_METHODS)[number];

const PREFIX = '/bonuses/';

/** The method that a path names, without its query; `undefined`: none. */
export function methodAt(path: string): BonusMethod | undefined {
  return BONUS_METHODS.find((method) => path === PREFIX + method);
}
