const TEXT_CHARS_MAX = 500;

/** Text from outside that PostgreSQL can store: no NUL, no lone surrogates, of bounded length. */
export function storable(text: string): string {
  return text.replaceAll('\0', '').slice(0, TEXT_CHARS_MAX).toWellFormed();
}
