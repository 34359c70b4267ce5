import type { Exchange } from '../../outbound/http-call.ts';
import { SecretMask, secretSpellings, secretsOfRequest } from '../../outbound/secret-mask.ts';
import { JsonError, jsonObjectOrError, jsonString } from '../../protocol/json.ts';
import type { SeenCall, ShownCall } from '../certificate/certificate.ts';
import { rightSignatures } from './forged-requests.ts';
import type { RecordedCall } from './recorded-call.ts';

const EXCERPT_LENGTH_MAX = 300;
const ANSWER_LENGTH_MAX = 4000;
const QUOTE_LENGTH_MAX = 200;
const MASK = '***';

/** Signatures are left out, because a repeated call needs new ones; other headers may contain keys. */
const OWN_HEADERS = ['accept', 'accept-encoding', 'content-type', 'user-agent', 'x-request-id'];
const SIGNATURES = ['x-sign-jws', 'x-sign'];
const OPEN_HEADERS = [...OWN_HEADERS, 'x-deadline-ms'];

/** Masks what must not be in a certificate, which is passed around. */
export class Redaction {
  readonly #words: readonly string[];
  readonly #signingSecret: string;

  /** @param words tokens and secrets, masked in all encodings @param signingSecret that of the requests */
  constructor(words: readonly string[], signingSecret: string) {
    this.#signingSecret = signingSecret;
    const spelled = words.filter((word) => word !== '').flatMap(secretSpellings);
    this.#words = [...new Set(spelled)].sort((a, b) => b.length - a.length);
  }

  text(text: string): string {
    return this.#words.reduce((all, word) => all.replaceAll(word, MASK), text);
  }

  seen(recorded: RecordedCall): SeenCall {
    const { operation, exchange, ms } = recorded;
    const status = exchange.kind === 'response' ? exchange.status : null;
    const text = this.#answered(recorded);
    const isLong = status !== null && text.length > EXCERPT_LENGTH_MAX;
    const answer = isLong ? `${text.slice(0, EXCERPT_LENGTH_MAX)}…` : text;
    return { operation, status, answer, ms: Math.round(ms) };
  }

  /** What the wallet itself said where it should have agreed; undefined if it agreed, or said nothing. */
  ownText(calls: readonly RecordedCall[]): string | undefined {
    const refused = calls.find(isRefusedWrongly);
    // In one line, and without what a terminal would obey.
    const text =
      refused === undefined
        ? ''
        : this.#answered(refused)
            .replaceAll(/[\s\p{Cc}]+/gu, ' ')
            .trim();
    if (text === '') return undefined;
    const isLong = text.length > QUOTE_LENGTH_MAX;
    return `the wallet says: ${isLong ? `${text.slice(0, QUOTE_LENGTH_MAX)}…` : text}`;
  }

  /** @param origin scheme, host and port of the wallet */
  shown(origin: string, recorded: RecordedCall): ShownCall {
    const { operation, request, exchange, ms, atMs } = recorded;
    const headers = Object.entries(request.headers)
      .filter(([name]) => !SIGNATURES.includes(name))
      .map(([name, value]) => [name, OPEN_HEADERS.includes(name) ? this.text(value) : MASK]);
    const answered = this.#answered(recorded);
    return {
      operation,
      at: new Date(atMs).toISOString(),
      ms: Math.round(ms),
      request: {
        method: request.method,
        url: origin + request.path,
        headers: Object.fromEntries(headers),
        body: this.text(request.body.toString('utf8')),
      },
      answer:
        exchange.kind === 'response'
          ? {
              status: exchange.status,
              body: answered.slice(0, ANSWER_LENGTH_MAX),
              truncated: answered.length > ANSWER_LENGTH_MAX,
            }
          : null,
      error: exchange.kind === 'response' ? null : answered,
    };
  }

  /** The answer, or why there is none. Wallets echo whole requests, and reveal what they expected. */
  #answered({ request, exchange }: RecordedCall): string {
    const mask = new SecretMask([
      ...secretsOfRequest(request, request.body.toString('utf8')).filter((word) => word !== ''),
      ...rightSignatures(request, this.#signingSecret),
    ]);
    return mask.text(this.text(wordsOf(exchange)));
  }
}

function isRefusedWrongly({ answer, exchange, wanted }: RecordedCall): boolean {
  const isWanted = wanted.kind === 'success' || wanted.kind === 'confirmation';
  return isWanted && answer.kind !== 'accepted' && exchange.kind === 'response';
}

function wordsOf(exchange: Exchange): string {
  return exchange.kind === 'response' ? withoutPerson(exchange.body) : exchange.error;
}

/** A profile has names, addresses and dates of birth: none of them is needed to judge it. */
function withoutPerson(body: Buffer): string {
  const document = jsonObjectOrError(body);
  if (document instanceof JsonError) return body.toString('utf8');
  return document.has('customFields')
    ? document.replace({ customFields: jsonString(MASK) })
    : document.text;
}
