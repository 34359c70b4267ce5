import { type LookupAddress, lookup } from 'node:dns';
import { isIP } from 'node:net';
import type { buildConnector } from 'undici';
import { systemClock } from '../domain/clock.ts';
import { isPublicAddress } from '../lib/public-address.ts';
import { namesAtOnce } from '../lib/thread-pool.ts';
import type { FindAddresses } from './addresses.ts';
import { limitAnswers } from './answer-meter.ts';
import { Names } from './names.ts';
import { createOpener, type TlsIdentity } from './tls.ts';

/** A forbidden host. Thrown before a connection exists, so nothing was sent. */
class PrivateAddressError extends Error {
  readonly code = 'PRIVATE_ADDRESS';

  constructor(hostname: string, address: string) {
    super(`${hostname} is ${address}, which is not a public address (wallet.allowPrivate is off)`);
    this.name = 'PrivateAddressError';
  }
}

/**
 * Opens the connections of one wallet. Unless `allowPrivate`, only to public addresses; the addresses
 * actually connected to are checked, because a name checked earlier may resolve differently now
 * (DNS rebinding).
 */
export function createConnector(options: {
  readonly allowPrivate: boolean;
  readonly timeoutMs: number;
  readonly tls?: TlsIdentity | undefined;
  /** The longest body expected in an answer; called each time. */
  readonly answerBytesMax: () => number;
  /** The name is not answered and its last addresses are used. Called once until it is answered again. */
  readonly onNameUnanswered?: ((hostname: string) => void) | undefined;
}): buildConnector.connector {
  const open = createOpener({
    timeoutMs: options.timeoutMs,
    tls: options.tls,
    find: createFinder({
      allows: options.allowPrivate ? () => true : isPublicAddress,
      onUnanswered: options.onNameUnanswered ?? (() => undefined),
    }),
  });
  const connect: buildConnector.connector = (target, callback) =>
    open(target, (...opened) => {
      // Without an error, whatever undici's types say: with one, there is no second argument.
      if (opened[0] === null) limitAnswers(opened[1], options.answerBytesMax);
      callback(...opened);
    });
  if (options.allowPrivate) return connect;
  return (target, callback) => {
    const host = target.hostname;
    // An address is never looked up, so the lookup's check would not see it.
    if (isIP(host) !== 0 && !isPublicAddress(host)) {
      process.nextTick(callback, new PrivateAddressError(host, host), null);
      return;
    }
    connect(target, callback);
  };
}

/**
 * Of each family. Where addresses hang, no more can be tried in the time that a connection has (250 ms each). Where they
 * refuse, all of them are tried: a name with thousands would occupy this process for a quarter of a second each time (I7).
 */
const ADDRESSES_MAX = 8;

const systemNames = new Names({ resolve: lookup, clock: systemClock, atOnce: namesAtOnce() });

export interface FinderOptions {
  /** If any address of a name fails this, no connection is made. */
  readonly allows: (address: string) => boolean;
  readonly onUnanswered: (hostname: string) => void;
  /** Default: the process-wide resolver. */
  readonly names?: Pick<Names, 'find'>;
}

/** How connections find the addresses of a name. */
export function createFinder(how: FinderOptions): FindAddresses {
  const { allows, onUnanswered, names = systemNames } = how;
  return (hostname, done) => {
    names.find(
      hostname,
      { all: true },
      {
        onUnanswered: () => onUnanswered(hostname),
        done: (error, found) => {
          const refused = found.find(({ address }) => !allows(address));
          if (error !== null) done(error, []);
          else if (refused) done(new PrivateAddressError(hostname, refused.address), []);
          else if (found.length === 0) done(new Error(`${hostname} has no address`), []);
          else done(null, tried(found));
        },
      },
    );
  };
}

/** Those that are connected to, in the order of the answer: the first of each family. */
function tried(found: readonly LookupAddress[]): LookupAddress[] {
  const taken = new Map<number, number>();
  return found.filter(({ family }) => {
    const before = taken.get(family) ?? 0;
    taken.set(family, before + 1);
    return before < ADDRESSES_MAX;
  });
}
