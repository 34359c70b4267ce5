import { createHash, randomBytes } from 'node:crypto';
import type { TokenBuckets } from '../lib/token-bucket.ts';
import type { BearerTokens } from '../people/bearer-tokens.ts';
import type { CodeFlow } from '../people/code-flow.ts';
import type { ConsoleSessions } from '../store/people/console-sessions.ts';

/** How somebody may become known to this listener (docs/contract.md, People). */
export interface People {
  /** Undefined: nobody comes in by the static token. */
  readonly adminToken: string | undefined;
  /** Undefined: there is no issuer. */
  readonly issuer: IssuerPart | undefined;
  readonly sessions: Pick<ConsoleSessions, 'open' | 'openByLink' | 'makeLink' | 'find' | 'close'>;
  /** Of a session, in milliseconds, whatever is done meanwhile. */
  readonly sessionMsMax: number;
  /** How often somebody may try to sign in; by address. */
  readonly attempts: Pick<TokenBuckets, 'take'>;
  /** `CONSOLE_URL`. */
  readonly consoleUrl: string | undefined;
}

interface IssuerPart {
  readonly rolesClaim: string;
  readonly tokens: Pick<BearerTokens, 'verify'>;
  /** Undefined: without `OIDC_CLIENT_ID` nobody signs in at the console through it. */
  readonly codeFlow: Pick<CodeFlow, 'begin' | 'finish'> | undefined;
}

/** Beyond every guess. */
const SECRET_BYTES = 32;

const SECRET = /^[A-Za-z0-9_-]{43}$/;

/** For a cookie or a link; only its hash is kept here. */
export function newConsoleSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** What is kept of a secret. */
export function secretHash(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** Undefined for what was never made here: nothing is asked about that. */
export function givenHash(secret: string | undefined | null): Buffer | undefined {
  return typeof secret === 'string' && SECRET.test(secret) ? secretHash(secret) : undefined;
}
