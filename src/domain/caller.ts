/** In ascending order: a person with several has the last one (docs/reference.md, People). */
export const PERSON_ROLES = ['viewer', 'support', 'finance', 'admin'] as const;
export type PersonRole = (typeof PERSON_ROLES)[number];

/**
 * What a route requires of its caller.
 * - `read`: everything but players' personal data
 * - `personal`: players' personal data
 * - `operate`: deliveries, holds, unknown results, players' sessions, a probe of a wallet
 * - `books`: books and reconciliations
 * - `administer`: every other change
 */
const RIGHTS = ['read', 'personal', 'operate', 'books', 'administer'] as const;
export type Right = (typeof RIGHTS)[number];

const RIGHTS_OF: Readonly<Record<PersonRole, readonly Right[]>> = {
  viewer: ['read'],
  support: ['read', 'personal', 'operate'],
  finance: ['read', 'books'],
  admin: RIGHTS,
};

/** The authenticated caller of the internal listener, a person or a service. */
export interface Caller {
  /** `token`, or the issuer's `email`, else `sub`; for the audit. */
  readonly actor: string;
  readonly role: PersonRole;
  /**
   * The peer's address, or the one named by a proxy of `ADMIN_TRUST_PROXY`; on the command line, the machine's name.
   */
  readonly address: string;
}

/** Length limits for the record: a name or a ticket, and a reason. */
export const BY_CHARS_MAX = 200;
export const REASON_CHARS_MAX = 2_000;

export function rightsOf(role: PersonRole): readonly Right[] {
  return RIGHTS_OF[role];
}

export function mayDo({ role }: Pick<Caller, 'role'>, right: Right): boolean {
  return RIGHTS_OF[role].includes(right);
}
