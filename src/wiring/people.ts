import { createHash } from 'node:crypto';
import type { People } from '../admin/access/people.ts';
import { TokenBuckets } from '../lib/token-bucket.ts';
import { BearerTokens } from '../people/bearer-tokens.ts';
import { CodeFlow } from '../people/code-flow.ts';
import { Issuer } from '../people/issuer.ts';
import { IssuerKeys } from '../people/issuer-keys.ts';
import { ConsoleSessions } from '../store/people/console-sessions.ts';
import type { Base } from './parts.ts';
import type { Storage } from './storage.ts';

/** How long a console session lasts: without activity, and at most. */
const IDLE_MS = 30 * 60 * 1000;
const ABSOLUTE_MS = 12 * 60 * 60 * 1000;

/** Attempts to sign in, per address. A person needs a few; behind a proxy that `ADMIN_TRUST_PROXY` does not name all people share one. */
const ATTEMPTS = { perSecond: 2, burst: 120 };
/** Addresses share buckets, so that callers with many addresses cannot fill the memory. */
const BUCKETS = 1024;

/** How the internal listener authenticates people and services. */
export function createPeople(base: Base, { callersDatabase }: Storage): People {
  const { environment, clock } = base;
  const { oidc } = environment;
  const attempts = new TokenBuckets(clock, ATTEMPTS);
  return {
    adminToken: environment.adminToken,
    consoleUrl: environment.consoleUrl,
    sessions: new ConsoleSessions(callersDatabase, { idleMs: IDLE_MS, absoluteMs: ABSOLUTE_MS }),
    sessionMsMax: ABSOLUTE_MS,
    attempts: { take: (address) => attempts.take(bucketOf(address)) },
    issuer: oidc && issuerPart(new Issuer(oidc, clock), base),
  };
}

function issuerPart(issuer: Issuer, { clock }: Base): People['issuer'] {
  const { settings } = issuer;
  const keys = new IssuerKeys(clock);
  return {
    roles: settings,
    tokens: new BearerTokens(issuer, keys, clock),
    codeFlow: settings.clientId === undefined ? undefined : new CodeFlow(issuer, keys),
  };
}

function bucketOf(address: string): string {
  const hash = createHash('sha256').update(address).digest();
  return String(hash.readUInt32BE() % BUCKETS);
}
