import type { Exchange } from '../outbound/http-call.ts';
import { JsonError, jsonObjectOrError, jsonString } from '../protocol/json.ts';
import { secretSpellings } from '../wallets/evidence.ts';
import type { SeenCall, ShownCall } from './certificate.ts';
import type { RecordedCall } from './recorded-call.ts';

const EXCERPT_LENGTH_MAX = 300;
const ANSWER_LENGTH_MAX = 4000;
const MASK = '***';

/** Signatures are made anew by whoever repeats a call; the rest of the headers may hold keys. */
const OWN_HEADERS = ['accept', 'accept-encoding', 'content-type', 'user-agent', 'x-request-id'];
const SIGNATURES = ['x-sign-jws', 'x-sign'];
const OPEN_HEADERS = [...OWN_HEADERS, 'x-deadline-ms'];

/** What must not stand in a certificate, which is passed around. */
export class Redaction {
  readonly #words: readonly string[];

  /** @param words tokens and secrets, however they are spelled; the empty ones are ignored */
  constructor(words: readonly string[]) {
    const spelled = words.filter((word) => word !== '').flatMap(secretSpellings);
    this.#words = [...new Set(spelled)].sort((a, b) => b.length - a.length);
  }

  text(text: string): string {
    return this.#words.reduce((all, word) => all.replaceAll(word, MASK), text);
  }

  seen({ operation, exchange, ms }: RecordedCall): SeenCall {
    const status = exchange.kind === 'response' ? exchange.status : null;
    return { operation, status, answer: this.#excerpt(exchange), ms: Math.round(ms) };
  }

  /** @param origin scheme, host and port of the wallet */
  shown(origin: string, recorded: RecordedCall): ShownCall {
    const { operation, request, exchange, ms, atMs } = recorded;
    const headers = Object.entries(request.headers)
      .filter(([name]) => !SIGNATURES.includes(name))
      .map(([name, value]) => [name, OPEN_HEADERS.includes(name) ? this.text(value) : MASK]);
    const body = exchange.kind === 'response' ? this.text(withoutPerson(exchange.body)) : '';
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
              body: body.slice(0, ANSWER_LENGTH_MAX),
              truncated: body.length > ANSWER_LENGTH_MAX,
            }
          : null,
      error: exchange.kind === 'response' ? null : this.text(exchange.error),
    };
  }

  #excerpt(exchange: Exchange): string {
    if (exchange.kind !== 'response') return this.text(exchange.error);
    const text = this.text(withoutPerson(exchange.body));
    return text.length > EXCERPT_LENGTH_MAX ? `${text.slice(0, EXCERPT_LENGTH_MAX)}…` : text;
  }
}

/** A profile tells names, addresses and dates of birth: none of them is needed to judge it. */
function withoutPerson(body: Buffer): string {
  const document = jsonObjectOrError(body);
  if (document instanceof JsonError) return body.toString('utf8');
  return document.has('customFields')
    ? document.replace({ customFields: jsonString(MASK) })
    : document.text;
}
