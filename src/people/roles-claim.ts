import { PERSON_ROLES, type PersonRole } from '../domain/caller.ts';
import { INVISIBLE } from '../domain/invisible.ts';

type Claims = Readonly<Record<string, unknown>>;

/** Where and how the issuer names roles. */
export interface RolesClaim {
  /** `OIDC_ROLES_CLAIM`: the claim's name; its dots reach into objects unless a claim has exactly that name. */
  readonly rolesClaim: string;
  /** `OIDC_ROLES_PREFIX`: what stands before each role there, such as `wagergate-`; without it a word is no role. */
  readonly rolesPrefix: string;
}

/** Whether the claim of the roles is there at all, even if it names none. */
export function hasRolesClaim(claims: Claims, roles: RolesClaim): boolean {
  return valueIn(claims, roles) !== undefined;
}

/** The role that the issuer gives a person: the highest one in the claim that the gateway knows. */
export function roleIn(claims: Claims, roles: RolesClaim): PersonRole | undefined {
  const { rolesPrefix } = roles;
  const value = valueIn(claims, roles);
  const words: readonly unknown[] = Array.isArray(value) ? value : [value];
  return PERSON_ROLES.findLast((role) => words.includes(`${rolesPrefix}${role}`));
}

function valueIn(claims: Claims, { rolesClaim: path }: RolesClaim): unknown {
  return Object.hasOwn(claims, path) ? claims[path] : reach(claims, path.split('.'));
}

function reach(from: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) return from;
  if (typeof from !== 'object' || from === null || !Object.hasOwn(from, name)) return undefined;
  return reach(Reflect.get(from, name), rest);
}

const ACTOR_LENGTH_MAX = 200;

/** Actor names that the gateway itself uses (docs/reference.md, Internal API): never taken from a token. */
const OWN_ACTOR = /^(?:token$|configuration$|cli:)/;

/**
 * A person's name in the audit: `email`, or `sub` if it is unverified or no address. It must not imitate
 * `OWN_ACTOR` names, nor a colleague's.
 */
export function actorIn(claims: Claims): string | undefined {
  const { email, email_verified: isVerified, sub } = claims;
  const isDoubted = UNVERIFIED.has(String(isVerified ?? '').toLowerCase()) || !isAddress(email);
  const names = isDoubted ? [sub] : [email, sub];
  return names.find(
    (name): name is string =>
      typeof name === 'string' &&
      name !== '' &&
      name.length <= ACTOR_LENGTH_MAX &&
      name.isWellFormed() &&
      !INVISIBLE.test(name) &&
      name.trim() === name &&
      !OWN_ACTOR.test(name),
  );
}

/** Issuers write `email_verified: false` in all these ways. */
const UNVERIFIED: ReadonlySet<string> = new Set(['false', '0', 'no']);

function isAddress(email: unknown): boolean {
  return typeof email === 'string' && email.includes('@');
}
