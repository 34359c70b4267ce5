import { hkdfSync } from 'node:crypto';
import { GatewayError } from '../../domain/errors.ts';

/** One key of `ENCRYPTION_KEY`. */
export interface EncryptionKey {
  /** A name for people; nothing is stored under it. */
  readonly id: string;
  /** 32 bytes. */
  readonly bytes: Buffer;
  /** Stored with everything the key has sealed: derived from the key, so that its name does not matter. */
  readonly mark: Buffer;
}

/** The parsed `ENCRYPTION_KEY`. */
export interface EncryptionKeys {
  /** The first key seals and derives; all of them open. */
  readonly keys: readonly [EncryptionKey, ...EncryptionKey[]];
  /** Whether tokens stored unencrypted, before there was a key, are still accepted (the entry `plain`). */
  readonly acceptsPlain: boolean;
}

const KEY_BYTES = 32;
const MARK_BYTES = 8;
const KEY_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$/;
const PLAIN = 'plain';
const MAKE_ONE = 'make one with: openssl rand -base64 32';

/**
 * Reads `key` or `id:key,id:key,…,plain`, each key 32 bytes in base64; undefined if there is none.
 * @throws GatewayError `CANNOT_START` naming the wrong entry, never a key
 */
export function readEncryptionKeys(text: string | undefined): EncryptionKeys | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const entries = text.split(',').map((entry) => entry.trim());
  const acceptsPlain = entries.includes(PLAIN);
  const named = entries.filter((entry) => entry !== PLAIN);
  const keys = named.map((entry, at) => keyOf(entry, at, named.length));
  const [first, ...others] = keys;
  if (first === undefined) throw wrong(`names no key beside ${PLAIN}; ${MAKE_ONE}`);
  for (const [at, key] of keys.entries()) {
    const earlier = keys
      .slice(0, at)
      .find(({ id, mark }) => id === key.id || mark.equals(key.mark));
    if (earlier?.mark.equals(key.mark)) throw wrong(`has the key ${key.id} twice: remove one`);
    if (earlier !== undefined) throw wrong(`calls two keys ${key.id}: give each its own id`);
  }
  return { keys: [first, ...others], acceptsPlain };
}

function keyOf(entry: string, at: number, count: number): EncryptionKey {
  const colon = entry.indexOf(':');
  const id = entry.slice(0, Math.max(colon, 0));
  const base64 = entry.slice(colon + 1);
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length !== KEY_BYTES || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(base64)) {
    const which = count === 1 ? '' : `: entry ${at + 1} of the list is not`;
    throw wrong(`must be 32 bytes in base64${which}; ${MAKE_ONE}`);
  }
  if (colon >= 0 && (!KEY_ID.test(id) || id === PLAIN)) {
    throw wrong(
      `has no usable id in entry ${at + 1}: write letters, digits, dots or dashes before the colon`,
    );
  }
  const mark = Buffer.from(
    hkdfSync('sha256', bytes, Buffer.alloc(0), 'wagergate key mark', MARK_BYTES),
  );
  return { id: colon < 0 ? `key-${mark.toString('hex').slice(0, 8)}` : id, bytes, mark };
}

function wrong(what: string): GatewayError {
  return new GatewayError('CANNOT_START', `ENCRYPTION_KEY ${what}`);
}
