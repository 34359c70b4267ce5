import type { VariableRule } from './yaml-tree.ts';

type Path = readonly (string | number)[];

/** Whether a setting, or one in it, is not to be shown: headers are where API keys stand. */
export function isSecretSetting(path: Path): boolean {
  return path.at(-1) === 'secrets' || path.at(-2) === 'headers' || isTlsKey(path);
}

/**
 * Whether the value at this path is a secret that has one owner. The key of a client certificate is
 * the gateway's own, which it may show to any wallet.
 */
export function isOwnedSecret(path: Path): boolean {
  return path.at(-2) === 'secrets';
}

function isTlsKey(path: Path): boolean {
  return path.at(-1) === 'key' && path.at(-2) === 'tls';
}

/** Of an operator's file: secrets, headers, addresses and what proves who is at an address. */
const MAY_HOLD_VARIABLES = [
  /^(wallet|api|bonuses\/upstream)\/secrets\/\d+$/,
  /^wallet\/dialect\/headers\/[^/]+$/,
  /^wallet\/baseUrl$/,
  /^wallet\/tls\/(ca|cert|key)$/,
  /^api\/allowedIps\/\d+$/,
];

/**
 * Operators' files may be written by more people than the gateway's: a variable stands only where it
 * is needed. Anywhere else what it holds would come back to them, in answers, lists and logs.
 */
export const operatorVariableRule: VariableRule = (path) => {
  const text = path.map((part) => String(part).replaceAll('/', '%2F')).join('/');
  return MAY_HOLD_VARIABLES.some((place) => place.test(text))
    ? undefined
    : 'may stand only in secrets, headers, tls and addresses of an operator: write the value itself';
};
