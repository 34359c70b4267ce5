import { WALLET_BUDGET_MS_MIN } from '../domain/deadline.ts';
import { type Problem, problemIn } from './problems.ts';
import { AGREED_SECRET_LENGTH_GOOD, AGREED_SECRET_LENGTH_SAFE } from './schema/fields.ts';
import type { GatewayConfig, OperatorConfig } from './schema/schema.ts';

/** Secrets of `gateway.yaml` that are accepted but should be improved: one problem each, without the secret. */
export function weakOfGateway({ service }: GatewayConfig): readonly Problem[] {
  return weak('gateway.yaml', ['service', 'secrets'], service.secrets);
}

/** The same for an operator's file. */
export function weakOfOperator({ id, wallet, api, bonuses }: OperatorConfig): readonly Problem[] {
  const file = `operators/${id}.yaml`;
  const upstream = bonuses.upstream?.secrets ?? [];
  const whyTwice = (secret: string) =>
    wallet.secrets.includes(secret) || upstream.includes(secret)
      ? 'signs something else as well: what is signed for one could be used for the other'
      : undefined;
  const { headers } = wallet.dialect;
  return [
    ...weak(file, ['wallet', 'secrets'], wallet.secrets),
    ...weak(file, ['bonuses', 'upstream', 'secrets'], upstream),
    ...doubts(file, ['api', 'secrets'], [...api.secrets.entries()], whyNotMeant),
    // A wallet's key in a header is a secret too, and its braces are forgotten as easily.
    ...doubts(file, ['wallet', 'dialect', 'headers'], Object.entries(headers), whyNotMeant),
    ...doubts(file, ['api', 'secrets'], [...api.secrets.entries()], whyTwice),
  ];
}

function weak(file: string, path: readonly string[], secrets: readonly string[]) {
  const placed = [...secrets.entries()];
  return [...doubts(file, path, placed, whyNotMeant), ...doubts(file, path, placed, whyShort)];
}

/** @param secrets each with its name or number below `path` */
function doubts(
  file: string,
  path: readonly string[],
  secrets: readonly (readonly [string | number, string])[],
  whyDoubtful: (secret: string) => string | undefined,
): readonly Problem[] {
  return secrets.flatMap(([at, secret]) => {
    const reason = whyDoubtful(secret);
    return reason === undefined ? [] : problemIn(file, { path: [...path, at], reason });
  });
}

/** Valid, but most likely a mistake. */
function whyNotMeant(secret: string): string | undefined {
  if (/^\$[A-Za-z_]\w*$/.test(secret)) {
    return `looks like a variable and is none, so that these characters are what counts: write \${NAME}`;
  }
  // `docker run --env-file` passes quotes in the file on as part of the value.
  if (/^(["']).*\1$/.test(secret)) {
    return 'stands in quotes, which count: remove them unless the other side has them too';
  }
  // Typical of a variable made with `echo`: the other side's secret has no line break.
  if (secret.trim() === secret) return undefined;
  return 'begins or ends with a space or a line break, which counts: remove it unless the other side has it too';
}

function whyShort(secret: string): string | undefined {
  if (secret.length >= AGREED_SECRET_LENGTH_GOOD) return undefined;
  return secret.length >= AGREED_SECRET_LENGTH_SAFE
    ? `has fewer than ${AGREED_SECRET_LENGTH_GOOD} characters: agree on a longer one`
    : `has fewer than ${AGREED_SECRET_LENGTH_SAFE} characters, so whoever sees one signed request may find it by trying: agree on a longer one`;
}

/** Settings that are valid, but most likely a mistake. */
export function doubtfulSettings(operator: OperatorConfig): readonly Problem[] {
  const { id, wallet, currencies } = operator;
  const file = `operators/${id}.yaml`;
  const { timeoutMs } = wallet;
  // Seconds instead of milliseconds: each place would be debited, time out, and be rolled back.
  const tooShort = `gives the wallet ${timeoutMs} ms, after which a bet that it may have debited is rolled back: it is in milliseconds`;
  return [
    ...doubtfulStatuses(operator),
    ...(timeoutMs >= WALLET_BUDGET_MS_MIN
      ? []
      : [problemIn(file, { path: ['wallet', 'timeoutMs'], reason: tooShort })]),
    ...currencies.flatMap((currency, at) =>
      /^[a-z]{3}$/.test(currency)
        ? problemIn(file, {
            path: ['currencies', at],
            reason: `is another currency than ${currency.toUpperCase()}: codes are compared exactly`,
          })
        : [],
    ),
  ];
}

/** Dialect items that are probably a misunderstanding: `mapCodes` does not apply to a status's code. */
function doubtfulStatuses({ id, wallet }: OperatorConfig): readonly Problem[] {
  const { errorStatuses, mapCodes } = wallet.dialect;
  return Object.entries(errorStatuses).flatMap(([status, code]) => {
    const mapping = Object.entries(mapCodes).filter(
      ([, codes]) => (codes?.[String(code)] ?? code) !== code,
    );
    if (mapping.length === 0) return [];
    const names = mapping.map(([operation]) => `mapCodes.${operation}.${code}`).join(', ');
    return problemIn(`operators/${id}.yaml`, {
      path: ['wallet', 'dialect', 'errorStatuses', status],
      reason: `stands for the protocol's code ${code}: ${names} maps codes of bodies, and is not asked. Write the code that is meant`,
    });
  });
}
