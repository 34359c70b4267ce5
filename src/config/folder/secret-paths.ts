import type { VariableRule } from './yaml-tree.ts';

type Path = readonly (string | number)[];

/** Whether a setting must not be shown. Headers are included, because they may carry API keys. */
export function isSecretSetting(path: Path): boolean {
  return path.at(-1) === 'secrets' || path.at(-2) === 'headers' || isTlsKey(path);
}

/** Whether the value at this path is a secret with one owner. A client certificate's key may have several. */
export function isOwnedSecret(path: Path): boolean {
  return path.at(-2) === 'secrets';
}

function isTlsKey(path: Path): boolean {
  return path.at(-1) === 'key' && path.at(-2) === 'tls';
}

/** Settings of an operator's file that may contain variables: secrets, headers, addresses and TLS material. */
const MAY_HOLD_VARIABLES = [
  /^(wallet|api|bonuses\/upstream)\/secrets\/\d+$/,
  /^wallet\/dialect\/headers\/[^/]+$/,
  /^wallet\/baseUrl$/,
  /^wallet\/tls\/(ca|cert|key)$/,
  /^api\/allowedIps\/\d+$/,
];

/** Variables are allowed only where needed: elsewhere their values could be read back. */
export const operatorVariableRule: VariableRule = (path) => {
  const text = path.map((part) => String(part).replaceAll('/', '%2F')).join('/');
  return MAY_HOLD_VARIABLES.some((place) => place.test(text))
    ? undefined
    : 'may stand only in secrets, headers, tls and addresses of an operator: write the value itself';
};
