/**
 * A currency as somebody typed it. Codes are compared exactly, and a wallet may have one such as `mBTC`: only one in
 * small letters throughout, such as `eur` or `usdt`, is taken for one in capitals.
 */
export function typedCurrency(text: string): string {
  return /^[a-z]+$/.test(text) ? text.toUpperCase() : text;
}
