import { BONUS_METHODS, type BonusMethod } from '../../../src/bonuses/method-names.ts';

const PREFIX = '/bonuses/';

/** The method that a path names, without its query; `undefined`: none. */
export function methodAt(path: string): BonusMethod | undefined {
  return BONUS_METHODS.find((method) => path === PREFIX + method);
}
