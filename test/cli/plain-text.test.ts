import { expect, it } from 'vitest';
import { plain } from '../../src/cli/plain-text.ts';

it('keeps a terminal from being moved about by what a wallet said', () => {
  expect(plain('a\r\n  b\n')).toBe('a b ');
  expect(plain('\u{1b}[2Jgone\u{9b}31m')).toBe('\u{fffd}[2Jgone\u{fffd}31m');
  expect(plain('Zoë 500 €')).toBe('Zoë 500 €');
});
