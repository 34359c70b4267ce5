/** Control and invisible characters, and the empty Braille cell: names that differ only in these look the same. */
export const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;
