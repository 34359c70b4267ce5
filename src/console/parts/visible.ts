/**
 * Characters that a reader would not see, or that reorder the text after them. Variation selectors are excluded:
 * they only choose how an emoji looks.
 */
const HIDDEN =
  /(?![\n\t]|[\ufe00-\ufe0f])[\p{Cc}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800\ufff9-\ufffb]|\p{Cs}/gu;

/** A piece of text, or the code point of a hidden character. */
export type VisiblePart = string | { readonly codePoint: string };

/** Splits text from wallets and players so that every character can be seen and none takes effect. */
export function visibleParts(text: string): readonly VisiblePart[] {
  const parts: VisiblePart[] = [];
  let behind = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (match.index > behind) parts.push(text.slice(behind, match.index));
    const code = (match[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    parts.push({ codePoint: `U+${code}` });
    behind = match.index + match[0].length;
  }
  if (behind < text.length) parts.push(text.slice(behind));
  return parts;
}

/** The same as a single text, for titles and labels. */
export function visibleText(text: string): string {
  return visibleParts(text)
    .map((part) => (typeof part === 'string' ? part : `⟨${part.codePoint}⟩`))
    .join('');
}
