/**
 * What a reader would not see, or what would turn the order of what follows: control characters
 * (line breaks and tabs excepted), marks of bidirectional text, characters of no width, tags.
 */
const HIDDEN =
  /(?![\n\t])[\p{Cc}\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|\p{Cs}/gu;

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
