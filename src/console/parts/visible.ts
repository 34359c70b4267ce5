/**
 * What a reader would not see, or what would turn the order of what follows: control characters
 * (line breaks and tabs excepted), marks of bidirectional text, characters of no width, tags, fillers that
 * look like a blank or like nothing. But not what only chooses how the character before it looks (emoji).
 */
const HIDDEN =
  /(?![\n\t]|[\ufe00-\ufe0f])[\p{Cc}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800\ufff9-\ufffb]|\p{Cs}/gu;

/** A piece of text as it is, or the code point of a character that is shown by its number. */
export type VisiblePart = string | { readonly codePoint: string };

/** Text from wallets and players, so that all of it can be seen and none of it acts. */
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

/** The same as one text, for titles and labels. */
export function visibleText(text: string): string {
  return visibleParts(text)
    .map((part) => (typeof part === 'string' ? part : `⟨${part.codePoint}⟩`))
    .join('');
}
