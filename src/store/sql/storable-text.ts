const TEXT_CHARS_MAX = 500;

/**
 * Text from outside that PostgreSQL can store: no NUL, no lone surrogates, of bounded length. A wallet's
 * odd message must never make the write that records its answer fail.
 */
export function storable(text: string): string {
  return text.replaceAll('\0', '').slice(0, TEXT_CHARS_MAX).toWellFormed();
}
