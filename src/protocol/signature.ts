import {
  createHmac,
  createSecretKey,
  type Hmac,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import { JsonError, parseJsonObject } from './json.ts';

/** A secret prepared once: importing it for each call would cost as much as the signature. */
export interface SigningKey {
  readonly hmacKey: KeyObject;
}

/** Why a message does not count as signed, for the log; the sender gets code 1 for all of them. */
export type SignatureFault = 'missing' | 'malformed' | 'algorithm' | 'crit' | 'mismatch';

export type SignatureVerdict =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: SignatureFault };

const MAC_BYTES = 32;

/**
 * Algorithm first, no other members than these: some wallets compare the whole header (service protocol).
 */
const OWN_HEADER = base64url('{"alg":"HS256","typ":"JWT"}');

/** Headers that senders use, so that they are not parsed for each call; no sender can fill this list. */
const KNOWN_HEADERS: ReadonlySet<string> = new Set([
  OWN_HEADER,
  base64url('{"typ":"JWT","alg":"HS256"}'),
  base64url('{"alg":"HS256"}'),
]);

/** Prepares secrets for `sign` and `verify`. @throws RangeError on an empty secret */
export function signingKeys(secrets: readonly string[]): readonly SigningKey[] {
  return secrets.map((secret) => {
    if (secret === '') throw new RangeError('a signing secret must not be empty');
    return { hmacKey: createSecretKey(secret, 'utf8') };
  });
}

/** `x-sign-jws` over exactly these bytes: `header..signature`, HS256 (RFC 7515 appendix F). */
export function sign(body: Buffer | string, key: SigningKey): string {
  const bytes = typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
  return `${OWN_HEADER}..${hmac(signingInput(OWN_HEADER, bytes), key).digest('base64url')}`;
}

/**
 * Verifies `x-sign-jws` over the bytes as received: only HS256, no extension of JWS. Takes as long for a wrong
 * signature as for a right one, and for the first key as for the last.
 * @param header as Node gives it; one sent twice is no signature @param keys any of them may have signed
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
    // The comparison is the first operand, so that it is made whatever the result of earlier keys.
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

/** Strict: no padding, no foreign character, no bits after the last byte. */
function decodeBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}
