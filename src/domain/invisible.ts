/**
 * Control characters and those without a form of their own (zero width, soft hyphen, direction, fillers, variation
 * selectors; a Braille cell without dots): two names that differ only in these look the same.
 */
export const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;
