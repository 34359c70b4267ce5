import { BONUS_METHODS, type BonusMethod } from '../../../src/bonuses/method-names.ts';

const PREFIX = '/bonuses/';

/** The method for a path without its query; `undefined` if there is none. */
export function methodAt(path: string): BonusMethod | undefined {
  return BONUS_METHODS.find((method) => path === PREFIX + method);
}
