import { createHash, randomBytes } from 'node:crypto';
import type { TokenBuckets } from '../../lib/token-bucket.ts';
import type { BearerTokens } from '../../people/bearer-tokens.ts';
import type { CodeFlow } from '../../people/code-flow.ts';
import type { RolesClaim } from '../../people/roles-claim.ts';
import type { ConsoleSessions } from '../../store/people/console-sessions.ts';

/** The ways to authenticate at this listener (docs/reference.md, People). */
export interface People {
  /** Undefined: there is no static token. */
  readonly adminToken: string | undefined;
  /** Undefined: there is no issuer. */
  readonly issuer: IssuerPart | undefined;
  readonly sessions: Pick<ConsoleSessions, 'open' | 'openByLink' | 'makeLink' | 'find' | 'close'>;
  /** The longest a session lasts, in milliseconds, even with activity. */
  readonly sessionMsMax: number;
  /** Limits sign-in attempts per address. */
  readonly attempts: Pick<TokenBuckets, 'take'>;
  /** `CONSOLE_URL`. */
  readonly consoleUrl: string | undefined;
}

interface IssuerPart {
  readonly roles: RolesClaim;
  readonly tokens: Pick<BearerTokens, 'verify'>;
  /** Undefined: without `OIDC_CLIENT_ID` the console offers no sign-in through the issuer. */
  readonly codeFlow: Pick<CodeFlow, 'begin' | 'finish'> | undefined;
}

/** Too long to guess. */
const SECRET_BYTES = 32;

const SECRET = /^[A-Za-z0-9_-]{43}$/;

/** The secret of a cookie or a link; the gateway stores only its hash. */
export function newConsoleSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** The form in which a secret is stored. */
export function secretHash(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** Undefined for a value that cannot be one of our secrets, so that it needs no look-up. */
export function givenHash(secret: string | undefined | null): Buffer | undefined {
  return typeof secret === 'string' && SECRET.test(secret) ? secretHash(secret) : undefined;
}
