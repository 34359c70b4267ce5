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

/** Who somebody is to the audit: `email` unless the issuer itself doubts it, else `sub`. */
export function actorIn(claims: Claims): string | undefined {
  const { email, email_verified: isVerified, sub } = claims;
  const names = isVerified === false ? [sub] : [email, sub];
  return names.find(
    (name): name is string =>
      typeof name === 'string' &&
      name !== '' &&
      name.length <= ACTOR_LENGTH_MAX &&
      name.isWellFormed() &&
      !name.includes('\0'),
  );
}
