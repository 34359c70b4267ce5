import { PERSON_ROLES, type PersonRole } from '../domain/caller.ts';

type Claims = Readonly<Record<string, unknown>>;

/**
 * The role that the issuer gives somebody: the highest known of those in the claim.
 * @param path `OIDC_ROLES_CLAIM`: the claim's name, whose dots reach into objects where there is no
 *   claim of just that name
 */
export function roleIn(claims: Claims, path: string): PersonRole | undefined {
  const value = Object.hasOwn(claims, path) ? claims[path] : reach(claims, path.split('.'));
  const words: readonly unknown[] = Array.isArray(value) ? value : [value];
  return PERSON_ROLES.findLast((role) => words.includes(role));
}

function reach(from: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) return from;
  if (typeof from !== 'object' || from === null || !Object.hasOwn(from, name)) return undefined;
  return reach(Reflect.get(from, name), rest);
}

const ACTOR_LENGTH_MAX = 200;

/** Who else acts here (docs/contract.md, Internal API): nobody whom an issuer knows goes by such a name. */
const OWN_ACTOR = /^(?:token$|configuration$|cli:)/;

/**
 * Who somebody is to the audit: `email` unless the issuer itself doubts it or it is no address, else
 * `sub`. Many issuers let people write their `email` themselves: it must not pass for the static token.
 */
export function actorIn(claims: Claims): string | undefined {
  const { email, email_verified: isVerified, sub } = claims;
  const isDoubted = isVerified === false || isVerified === 'false' || !isAddress(email);
  const names = isDoubted ? [sub] : [email, sub];
  return names.find(
    (name): name is string =>
      typeof name === 'string' &&
      name !== '' &&
      name.length <= ACTOR_LENGTH_MAX &&
      name.isWellFormed() &&
      !name.includes('\0') &&
      !OWN_ACTOR.test(name),
  );
}

function isAddress(email: unknown): boolean {
  return typeof email === 'string' && email.includes('@');
}
