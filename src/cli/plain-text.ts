/**
 * Text from outside as a terminal may show it: on one line, and without control characters, by
 * which a wallet's error message could move the cursor or recolour the screen.
 */
export function plain(text: string): string {
  return text.replaceAll(/\s*[\r\n]+\s*/g, ' ').replaceAll(/\p{Cc}/gu, '\u{fffd}');
}
