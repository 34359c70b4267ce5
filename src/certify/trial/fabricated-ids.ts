import { randomInt } from 'node:crypto';

const DIGITS = '0123456789';
const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const UPPER = LOWER.toUpperCase();
const HEX_LOWER = '0123456789abcdef';

/**
 * An id of the same length and alphabet as a real one, which nobody has, nor equals one of `taken`: it finds a
 * wallet that refuses only ids of the wrong form.
 */
export function fabricatedLike(real: string, taken: readonly string[] = []): string {
  const isHex = /^(?=.*\d)(?=.*[a-f])[0-9a-f-]+$/.test(real);
  for (;;) {
    const stranger = [...real].map((character) => otherOf(character, isHex)).join('');
    // A number keeps its length: a wallet may read it as one.
    const numeric = /^\d+$/.test(real) ? stranger.replace(/^0/, '7') : stranger;
    if (numeric !== real && !taken.includes(numeric)) return numeric;
    // The real one has no character that could be replaced by another of its kind.
    if (!/[0-9A-Za-z]/.test(real)) return `${real}-`;
  }
}

function otherOf(character: string, isHex: boolean): string {
  if (isHex && HEX_LOWER.includes(character)) return oneOf(HEX_LOWER);
  for (const alphabet of [DIGITS, LOWER, UPPER]) {
    if (alphabet.includes(character)) return oneOf(alphabet);
  }
  return character;
}

function oneOf(alphabet: string): string {
  return alphabet[randomInt(alphabet.length)] ?? '';
}
