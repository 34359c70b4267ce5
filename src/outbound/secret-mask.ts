import type { WalletEvidence } from '../domain/wallet-answer.ts';
import type { HttpRequest } from './http-message.ts';

/** What came back, whole or broken off. */
export interface Heard {
  readonly contentType: string | undefined;
  readonly body: Buffer;
  readonly isComplete: boolean;
}

const MASK = '***';

/** What nearly every wallet says. */
const PLAIN_TYPE = /^application\/json(?:; ?charset=utf-8)?$/i;

/** Shorter ones stand in many a text by chance; they are masked only between quotation marks. */
const SECRET_CHARS_MIN = 6;

/** More than a secret's length beyond the limit is not looked at: an answer may have 64 KiB. */
const LOOK_AHEAD_BYTES = 4_096;

/**
 * Members whose value lets somebody in, whoever made it; the echo of a request may be escaped. Each
 * piece of text is looked at by one match alone: what a wallet repeats must not cost its square (I7).
 */
const SECRET_MEMBER =
  /("(?:[a-z_-]*token|[a-z_-]*secret|password|authorization|x-sign(?:-jws)?|signature|api[_-]?key)\\*"\s*:\s*\\*")([^"]*)/gi;

/** Stands in whatever the two patterns about members and headers find. */
const SECRET_WORD = /token|secret|password|authorization|x-sign|signature|api[_-]?key|cookie/i;

/** Two points with nothing but their like between them, and enough behind. */
const MAYBE_JWS = /\.[\w-]*\.[\w-]{16}/;

/** A signature or a token of this form, whoever's; looked for where a word begins and nowhere else. */
const JWS = /(?<![\w-])[\w-]{10,}\.[\w-]*\.[\w-]{16,}/g;

/** The beginning of one, at the end of what came. */
const CUT_JWS = /(?<![\w-])[\w-]{10,}\.[\w-]*(?:\.[\w-]*)?$/;

/** As header names are written; a wallet that echoes the request's head writes them so. */
const SECRET_HEADER = /^((?:authorization|cookie|x-sign(?:-jws)?|x-api-key)\s*:\s*)[^\r\n]+/gim;

/**
 * Takes out of what the other side said whatever lets somebody in: wallets, and the service, echo tokens, headers
 * and whole requests. Everything works on Latin-1 text, one character a byte, so that broken UTF-8 and NUL
 * come through as they are.
 */
export class SecretMask {
  /** The longest first: one may be a part of another. */
  readonly #secrets: readonly string[];

  /** @param beside whose secrets it hides as well; they are neither spelled nor sorted anew for every call */
  constructor(secrets: readonly string[], beside?: SecretMask) {
    const own = [...new Set(secrets.flatMap(spellings))].sort((a, b) => b.length - a.length);
    this.#secrets = beside === undefined ? own : merged(own, beside.#secrets);
  }

  /**
   * @param isWhole whether the text ends where it was meant to
   * @returns the same text where nothing was to be hidden
   */
  text(text: string, isWhole = true): string {
    return latin1ToText(this.#hidden(textToLatin1(text), isWhole));
  }

  /** The first bytes of an answer; undefined where none are to be kept. */
  evidence(
    { contentType, body, isComplete }: Heard,
    limitBytes: number,
  ): WalletEvidence | undefined {
    if (limitBytes === 0) return undefined;
    const looked = body.subarray(0, limitBytes + LOOK_AHEAD_BYTES);
    const isWhole = isComplete && looked.length === body.length;
    const hidden = Buffer.from(this.#hidden(looked.toString('latin1'), isWhole), 'latin1');
    const kept = hidden.subarray(0, limitBytes);
    return {
      contentType:
        contentType === undefined || PLAIN_TYPE.test(contentType)
          ? contentType
          : this.text(contentType),
      body: Buffer.from(kept),
      truncated: !isWhole || kept.length < hidden.length,
    };
  }

  #hidden(latin1: string, isWhole: boolean): string {
    let hidden = latin1;
    for (const secret of this.#secrets) {
      if (hidden.includes(secret)) hidden = hidden.replaceAll(secret, maskOf(secret));
    }
    if (!isWhole) hidden = this.#withoutCutSecret(hidden).replace(CUT_JWS, MASK);
    // Nearly every answer is short and plain: looking for a word is cheaper than the patterns.
    if (SECRET_WORD.test(hidden)) {
      hidden = hidden.replace(SECRET_MEMBER, maskedMember).replace(SECRET_HEADER, `$1${MASK}`);
    }
    return MAYBE_JWS.test(hidden) ? hidden.replace(JWS, MASK) : hidden;
  }

  /** Where an answer breaks off, it may do so in the middle of a secret. */
  #withoutCutSecret(text: string): string {
    for (const secret of this.#secrets) {
      for (let length = Math.min(secret.length - 1, text.length); length >= 4; length -= 1) {
        if (text.endsWith(secret.slice(0, length))) return text.slice(0, -length) + MASK;
      }
    }
    return text;
  }
}

/** Two lists, each the longest first, as one such list. */
function merged(few: readonly string[], many: readonly string[]): readonly string[] {
  const all: string[] = [];
  let rest = many;
  for (const one of few) {
    const shorter = rest.findIndex((other) => other.length <= one.length);
    const end = shorter === -1 ? rest.length : shorter;
    all.push(...rest.slice(0, end), one);
    rest = rest.slice(end);
  }
  return [...all, ...rest];
}

const TOKEN_MEMBER = /"token"\s*:\s*("(?:[^"\\]|\\.)*")/g;

/** What lets somebody in of one request: its signature, and the player's token in its body. */
export function secretsOfRequest(request: HttpRequest, body: string): readonly string[] {
  const { 'x-sign-jws': jws = '' } = request.headers;
  const tokens = [...body.matchAll(TOKEN_MEMBER)].map(([, quoted = '""']) => unquoted(quoted));
  // Of a detached signature the last part is the one that counts.
  return [jws, jws.slice(jws.lastIndexOf('.') + 1), ...tokens];
}

function unquoted(json: string): string {
  try {
    const text: unknown = JSON.parse(json);
    return typeof text === 'string' ? text : '';
  } catch {
    // No JSON text after all: as it stands there it may come back.
    return json.slice(1, -1);
  }
}

/** Spelled the same everywhere, as most tokens and every signature are. */
const PLAIN = /^[\w.~-]{6,}$/;

/** The ways in which a secret may come back: in JSON, in PHP's and .NET's JSON, in an address. */
export function secretSpellings(secret: string): readonly string[] {
  if (PLAIN.test(secret)) return [secret];
  const json = JSON.stringify(secret).slice(1, -1);
  const address = encodeURIComponent(secret.toWellFormed());
  return [
    ...[secret, json, json.replaceAll('/', '\\/'), inDotNetJson(json)],
    // As .NET writes the hex of an address.
    ...[address, address.replace(/%../g, (code) => code.toLowerCase())],
  ];
}

/** The plus of a token in base64 is `\u002B` there, like whatever else means something in HTML. */
const inDotNetJson = (json: string) =>
  json
    .replaceAll('\\"', '\\u0022')
    .replace(/[^ -~]|[+&'<>`]/g, (one) => `\\u${hex4(one).toUpperCase()}`);

const hex4 = (one: string) => one.charCodeAt(0).toString(16).padStart(4, '0');

/**
 * A secret that stands for long, and how else somebody may tell it: in capitals or small letters, and its bytes in
 * hex or base64, also in the middle of a longer text such as `user:secret`. Not looked for of what lives for one call.
 */
export function withCodings(secret: string): readonly string[] {
  if (secret.length < SECRET_CHARS_MIN) return [secret];
  const bytes = Buffer.from(secret, 'utf8');
  const hex = bytes.toString('hex');
  const base64 = [bytes.toString('base64').replaceAll('=', ''), ...[0, 1, 2].map(within64(bytes))];
  const url64 = base64.map((one) => one.replaceAll('+', '-').replaceAll('/', '_'));
  const cased = [secret.toUpperCase(), secret.toLowerCase()];
  return [secret, ...cased, hex, hex.toUpperCase(), ...base64, ...url64];
}

/** What of the base64 is the same whatever stands behind the bytes, and whichever so many stand before them. */
const within64 = (bytes: Buffer) => (before: number) => {
  const all = Buffer.concat([Buffer.alloc(before), bytes]);
  const whole = Math.floor((all.length * 8) / 6);
  return all.toString('base64').slice(Math.ceil((before * 8) / 6), whole);
};

/** Those of any secret as Latin-1; of a short one between quotation marks alone. */
function spellings(secret: string): readonly string[] {
  // ASCII is Latin-1 already.
  if (PLAIN.test(secret)) return [secret];
  const bytes = secretSpellings(secret).map(textToLatin1);
  if (secret.length >= SECRET_CHARS_MIN) return bytes;
  return secret === '' ? [] : bytes.map((one) => `"${one}"`);
}

/** What a member holds gives way; the backslashes before its closing quote belong to the quote. */
function maskedMember(_member: string, head: string, value: string): string {
  let end = value.length;
  while (value[end - 1] === '\\') end -= 1;
  return head + MASK + value.slice(end);
}

function maskOf(spelled: string): string {
  return spelled.startsWith('"') ? `"${MASK}"` : MASK;
}

function textToLatin1(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

function latin1ToText(text: string): string {
  return Buffer.from(text, 'latin1').toString('utf8');
}
