const TEXT_CHARS_MAX = 500;

/**
 * Text from outside, as PostgreSQL can hold it: no NUL, no lone surrogates, of bounded length. A
 * wallet's odd message must never fail the write that records its answer.
 */
export function storable(text: string): string {
  return text.replaceAll('\0', '').slice(0, TEXT_CHARS_MAX).toWellFormed();
}
