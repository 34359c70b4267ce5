import { randomUUID } from 'node:crypto';

/** Who asked for an operation. */
export type AskedBy = 'service' | 'gateway';

/** Where a UUID has its version. */
const VERSION_AT = 14;
/** RFC 9562 leaves it to applications; requests of the service are recorded under random ids, of version 4. */
const OWN_VERSION = '8';

/** The attempt id of an operation that the gateway begins by itself: the journal tells it by that from the service's. */
export function ownAttemptId(): string {
  const id = randomUUID();
  return `${id.slice(0, VERSION_AT)}${OWN_VERSION}${id.slice(VERSION_AT + 1)}`;
}

/** @param attemptId under which the operation is recorded; what an earlier release began counts as the service's */
export function askedBy(attemptId: string): AskedBy {
  return attemptId[VERSION_AT] === OWN_VERSION ? 'gateway' : 'service';
}
