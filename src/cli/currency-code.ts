/**
 * A currency as somebody typed it. Codes are compared exactly, and a wallet may have one such as `mBTC`: only three
 * small letters, as of `eur`, are taken for a code of ISO 4217.
 */
export function typedCurrency(text: string): string {
  return /^[a-z]{3}$/.test(text) ? text.toUpperCase() : text;
}
