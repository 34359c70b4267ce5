import {
  createHmac,
  createSecretKey,
  type Hmac,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import { JsonError, parseJsonObject } from './json.ts';

/** A secret made ready once: importing it at each call would cost as much as the signature. */
export interface SigningKey {
  readonly hmacKey: KeyObject;
}

/**
 * Why a message does not count as signed. All of them are code 1 to the sender; the difference is
 * for the log, where it tells a wrong secret from a wrong implementation.
 */
export type SignatureFault = 'missing' | 'malformed' | 'algorithm' | 'crit' | 'mismatch';

export type SignatureVerdict =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: SignatureFault };

const MAC_BYTES = 32;

/**
 * Algorithm first, no further members: some wallets compare the whole header (docs/protocol.md).
 */
const OWN_HEADER = base64url('{"alg":"HS256","typ":"JWT"}');

/**
 * The headers that senders really use, so that they need not be parsed at each call: a list fixed
 * here cannot be filled by whoever sends odd ones, as a cache could.
 */
const KNOWN_HEADERS: ReadonlySet<string> = new Set([
  OWN_HEADER,
  base64url('{"typ":"JWT","alg":"HS256"}'),
  base64url('{"alg":"HS256"}'),
]);

/**
 * Makes secrets ready for `sign` and `verify`.
 * @throws RangeError on an empty secret: everybody could sign with it
 */
export function signingKeys(secrets: readonly string[]): readonly SigningKey[] {
  return secrets.map((secret) => {
    if (secret === '') throw new RangeError('a signing secret must not be empty');
    return { hmacKey: createSecretKey(secret, 'utf8') };
  });
}

/**
 * The value of `x-sign-jws` over exactly these bytes: a compact JWS with HS256 whose payload part
 * is left empty, `header..signature` (docs/protocol.md, Authentication 3; RFC 7515 appendix F).
 */
export function sign(body: Buffer | string, key: SigningKey): string {
  const bytes = typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
  return `${OWN_HEADER}..${hmac(signingInput(OWN_HEADER, bytes), key).digest('base64url')}`;
}

/**
 * Judges `x-sign-jws` over the bytes as received (docs/protocol.md, Signing of callbacks). Only
 * HS256 is taken, whatever the header asks for, and no extension of JWS; the order and number of
 * the header's other members do not matter.
 *
 * Takes as long for a wrong signature as for a right one, and as long for the first key as for
 * the last: no time tells how much was right, or which of the rotated secrets a sender has.
 *
 * @param header as Node gives it; a header sent twice comes as a list or joined by a comma, and
 *   neither is a signature
 * @param keys any of them may have signed; without keys nothing verifies
 */
export function verify(
  header: string | readonly string[] | undefined,
  body: Buffer,
  keys: readonly SigningKey[],
): SignatureVerdict {
  if (header === undefined) return { ok: false, reason: 'missing' };
  if (typeof header !== 'string') return { ok: false, reason: 'malformed' };
  const dots = header.indexOf('..');
  if (dots === -1) return { ok: false, reason: 'malformed' };

  const joseHeader = header.slice(0, dots);
  const fault = faultOfHeader(joseHeader);
  if (fault !== undefined) return { ok: false, reason: fault };
  const signature = decodeBase64url(header.slice(dots + 2));
  if (signature?.length !== MAC_BYTES) return { ok: false, reason: 'malformed' };

  const input = signingInput(joseHeader, body);
  let matched = false;
  for (const key of keys) {
    // The comparison stands first, so that it is made whatever the keys before it gave.
    matched = timingSafeEqual(hmac(input, key).digest(), signature) || matched;
  }
  return matched ? { ok: true } : { ok: false, reason: 'mismatch' };
}

function faultOfHeader(joseHeader: string): SignatureFault | undefined {
  if (KNOWN_HEADERS.has(joseHeader)) return undefined;
  const bytes = decodeBase64url(joseHeader);
  if (bytes === undefined) return 'malformed';
  try {
    const members = parseJsonObject(bytes);
    // `b64` would change what is signed; like everything in `crit`, it is an extension.
    if (members.has('crit') || members.has('b64')) return 'crit';
    return members.value.alg === 'HS256' ? undefined : 'algorithm';
  } catch (error) {
    if (error instanceof JsonError) return 'malformed';
    throw error;
  }
}

function signingInput(joseHeader: string, body: Buffer): string {
  return `${joseHeader}.${body.toString('base64url')}`;
}

function hmac(input: string, { hmacKey }: SigningKey): Hmac {
  return createHmac('sha256', hmacKey).update(input, 'latin1');
}

function base64url(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64url');
}

/**
 * Strict, where Node's decoder skips what it does not know: whatever does not come out the same
 * when encoded again has padding, a foreign character, or bits behind the last byte.
 */
function decodeBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}
