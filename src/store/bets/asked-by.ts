import { randomUUID } from 'node:crypto';

/** Who requested an operation. */
export type AskedBy = 'service' | 'gateway';

/** The index of the version digit in a UUID. */
const VERSION_AT = 14;
/** RFC 9562 reserves version 8 for applications; the service's requests have random ids, of version 4. */
const OWN_VERSION = '8';

/** An attempt id for the gateway's own operations, which its UUID version marks in the journal. */
export function ownAttemptId(): string {
  const id = randomUUID();
  return `${id.slice(0, VERSION_AT)}${OWN_VERSION}${id.slice(VERSION_AT + 1)}`;
}

/** @param attemptId of the recorded operation; the gateway's own of an earlier release count as the service's */
export function askedBy(attemptId: string): AskedBy {
  return attemptId[VERSION_AT] === OWN_VERSION ? 'gateway' : 'service';
}
