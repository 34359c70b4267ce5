/**
 * The bonus API's seven methods, by their path after `/bonuses/` (service protocol, Bonus API).
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
