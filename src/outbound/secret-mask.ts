import type { WalletEvidence } from '../domain/wallet-answer.ts';
import type { HttpRequest } from './http-message.ts';

/** A received body, complete or cut off. */
export interface ReceivedBody {
  readonly contentType: string | undefined;
  readonly body: Buffer;
  readonly isComplete: boolean;
}

const MASK = '***';

/** The usual content type. */
const PLAIN_TYPE = /^application\/json(?:; ?charset=utf-8)?$/i;
/** A content type may have 16 KiB, and one is stored with every attempt. */
const TYPE_CHARS_MAX = 255;

/** Shorter secrets occur in many texts by chance; they are masked only between quotation marks. */
const SECRET_CHARS_MIN = 6;

/** An answer is searched this far beyond the limit: further than any secret is long. */
const LOOK_AHEAD_BYTES = 4_096;

/** JSON members whose value gives access, perhaps escaped. No text is matched twice: that would be quadratic (I7). */
const SECRET_MEMBER =
  /("(?:[a-z_-]*token|[a-z_-]*secret|password|authorization|x-sign(?:-jws)?|signature|api[_-]?key)\\*"\s*:\s*\\*")([^"]*)/gi;

/** Occurs in everything that the patterns for members and headers match. */
const SECRET_WORD = /token|secret|password|authorization|x-sign|signature|api[_-]?key|cookie/i;

/** Two dots with only JWS characters between them, and enough of those after. */
const MAYBE_JWS = /\.[\w-]*\.[\w-]{16}/;

/** A JWS or JWT; matched only at the start of a word. */
const JWS = /(?<![\w-])[\w-]{10,}\.[\w-]*\.[\w-]{16,}/g;

/** The beginning of one at the end of the text. */
const CUT_JWS = /(?<![\w-])[\w-]{10,}\.[\w-]*(?:\.[\w-]*)?$/;

/** Header lines, as in an echoed request. */
const SECRET_HEADER = /^((?:authorization|cookie|x-sign(?:-jws)?|x-api-key)\s*:\s*)[^\r\n]+/gim;

/** Masks everything in an answer that gives access: wallets echo tokens, headers and requests. Works on Latin-1. */
export class SecretMask {
  readonly #secrets: readonly string[];
  readonly #beside: SecretMask | undefined;

  /** @param beside another mask whose secrets are masked as well, which saves computing their spellings per call */
  constructor(secrets: readonly string[], beside?: SecretMask) {
    // As nearly always: then no list is copied for the call.
    this.#secrets = secrets.every((secret) => PLAIN.test(secret))
      ? secrets
      : secrets.flatMap(spellings);
    this.#beside = beside;
  }

  /** @param isWhole whether the text is complete @returns the same text if there was nothing to mask */
  text(text: string, isWhole = true): string {
    return latin1ToText(this.#hidden(textToLatin1(text), isWhole));
  }

  /** The first bytes of an answer, masked; undefined if none are to be stored. */
  evidence(
    { contentType, body, isComplete }: ReceivedBody,
    limitBytes: number,
  ): WalletEvidence | undefined {
    if (limitBytes === 0) return undefined;
    const looked = body.subarray(0, limitBytes + LOOK_AHEAD_BYTES);
    const isWhole = isComplete && looked.length === body.length;
    const latin1 = looked.toString('latin1');
    const hidden = this.#hidden(latin1, isWhole);
    const kept = hidden.length > limitBytes ? hidden.slice(0, limitBytes) : hidden;
    return {
      contentType:
        contentType === undefined || PLAIN_TYPE.test(contentType)
          ? contentType
          : this.text(contentType).slice(0, TYPE_CHARS_MAX).toWellFormed(),
      body: isWhole && kept === latin1 ? body : Buffer.from(kept, 'latin1'),
      truncated: !isWhole || kept.length < hidden.length,
    };
  }

  #hidden(latin1: string, isWhole: boolean): string {
    let hidden = latin1;
    // Most answers contain none, so nothing is sorted for them.
    if (this.#occursIn(latin1)) {
      for (const secret of this.#longestFirst()) hidden = hidden.replaceAll(secret, maskOf(secret));
    }
    if (!isWhole) hidden = this.#withoutCutSecret(hidden).replace(CUT_JWS, MASK);
    // Most answers are short and plain: searching for a word is cheaper than the patterns.
    if (SECRET_WORD.test(hidden)) {
      hidden = hidden.replace(SECRET_MEMBER, maskedMember).replace(SECRET_HEADER, `$1${MASK}`);
    }
    return MAYBE_JWS.test(hidden) ? hidden.replace(JWS, MASK) : hidden;
  }

  #occursIn(latin1: string): boolean {
    if (this.#secrets.some((secret) => latin1.includes(secret))) return true;
    return this.#beside === undefined ? false : this.#beside.#occursIn(latin1);
  }

  /** One may be part of another. */
  #longestFirst(): readonly string[] {
    return [...new Set(this.#all())].sort((a, b) => b.length - a.length);
  }

  #all(): readonly string[] {
    return this.#beside === undefined ? this.#secrets : [...this.#beside.#all(), ...this.#secrets];
  }

  /** Masks a secret that is cut off at the end of an answer. */
  #withoutCutSecret(text: string): string {
    for (const secret of this.#longestFirst()) {
      for (let length = Math.min(secret.length - 1, text.length); length >= 4; length -= 1) {
        if (text.endsWith(secret.slice(0, length))) return text.slice(0, -length) + MASK;
      }
    }
    return text;
  }
}

const TOKEN_MEMBER = /"token"\s*:\s*("(?:[^"\\]|\\.)*")/g;

/** The secrets of one request: its signature, and the player's token in its body. */
export function secretsOfRequest(request: HttpRequest, body: string): readonly string[] {
  const { 'x-sign-jws': jws = '' } = request.headers;
  const tokens = [...body.matchAll(TOKEN_MEMBER)].map(([, quoted = '""']) => unquoted(quoted));
  // The last part of a detached signature is the one that matters.
  return [jws, jws.slice(jws.lastIndexOf('.') + 1), ...tokens];
}

function unquoted(json: string): string {
  if (!json.includes('\\')) return json.slice(1, -1);
  try {
    const text: unknown = JSON.parse(json);
    return typeof text === 'string' ? text : '';
  } catch {
    // Not valid JSON text: it may come back as it is.
    return json.slice(1, -1);
  }
}

/** Has the same spelling in every encoding, like most tokens and every signature. */
const PLAIN = /^[\w.~-]{6,}$/;

/** The spellings in which a secret may come back: plain, in JSON, in PHP's and .NET's JSON, in a URL. */
export function secretSpellings(secret: string): readonly string[] {
  if (PLAIN.test(secret)) return [secret];
  const json = JSON.stringify(secret).slice(1, -1);
  const address = encodeURIComponent(secret.toWellFormed());
  return [
    ...[secret, json, json.replaceAll('/', '\\/'), inDotNetJson(json)],
    // .NET writes the hex digits of a URL in small letters.
    ...[address, address.replace(/%../g, (code) => code.toLowerCase())],
  ];
}

/** .NET escapes whatever has a meaning in HTML, the plus of a token in base64 included (`\u002B`). */
const inDotNetJson = (json: string) =>
  json
    .replaceAll('\\"', '\\u0022')
    .replace(/[^ -~]|[+&'<>`]/g, (one) => `\\u${hex4(one).toUpperCase()}`);

const hex4 = (one: string) => one.charCodeAt(0).toString(16).padStart(4, '0');

/** A long-lived secret with its other encodings: case, hex, base64, also within a longer text. */
export function withCodings(secret: string): readonly string[] {
  if (secret.length < SECRET_CHARS_MIN) return [secret];
  const bytes = Buffer.from(secret, 'utf8');
  const hex = bytes.toString('hex');
  const base64 = [bytes.toString('base64').replaceAll('=', ''), ...[0, 1, 2].map(within64(bytes))];
  const url64 = base64.map((one) => one.replaceAll('+', '-').replaceAll('/', '_'));
  const cased = [secret.toUpperCase(), secret.toLowerCase()];
  return [secret, ...cased, hex, hex.toUpperCase(), ...base64, ...url64];
}

/** The part of the base64 that does not depend on the bytes before (`before` of them) and after. */
const within64 = (bytes: Buffer) => (before: number) => {
  const all = Buffer.concat([Buffer.alloc(before), bytes]);
  const whole = Math.floor((all.length * 8) / 6);
  return all.toString('base64').slice(Math.ceil((before * 8) / 6), whole);
};

/** The spellings of a secret in Latin-1; those of a short one between quotation marks. */
function spellings(secret: string): readonly string[] {
  // ASCII is Latin-1 already.
  if (PLAIN.test(secret)) return [secret];
  const bytes = secretSpellings(secret).map(textToLatin1);
  if (secret.length >= SECRET_CHARS_MIN) return bytes;
  return secret === '' ? [] : bytes.map((one) => `"${one}"`);
}

/** Replaces a member's value; backslashes before its closing quote belong to the quote. */
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
