import type { Exchange } from '../outbound/http-call.ts';
import { JsonError, jsonString, parseJsonObject } from '../protocol/json.ts';
import type { SeenCall } from './certificate.ts';
import type { Sighting } from './recorded-call.ts';

const EXCERPT_LENGTH_MAX = 300;
const MASK = '***';

/** What must not stand in a certificate, which is passed around. */
export class Redaction {
  readonly #words: readonly string[];

  /** @param words tokens and secrets; the empty ones are ignored */
  constructor(words: readonly string[]) {
    this.#words = words.filter((word) => word !== '').sort((a, b) => b.length - a.length);
  }

  text(text: string): string {
    return this.#words.reduce((all, word) => all.replaceAll(word, MASK), text);
  }

  seen({ operation, exchange, ms }: Sighting): SeenCall {
    const status = exchange.kind === 'response' ? exchange.status : null;
    return { operation, status, answer: this.#excerpt(exchange), ms: Math.round(ms) };
  }

  #excerpt(exchange: Exchange): string {
    if (exchange.kind !== 'response') return this.text(exchange.error);
    const text = this.text(withoutPerson(exchange.body));
    return text.length > EXCERPT_LENGTH_MAX ? `${text.slice(0, EXCERPT_LENGTH_MAX)}…` : text;
  }
}

/** A profile tells names, addresses and dates of birth: none of them is needed to judge it. */
function withoutPerson(body: Buffer): string {
  try {
    const document = parseJsonObject(body);
    return document.has('customFields')
      ? document.replace({ customFields: jsonString(MASK) })
      : document.text;
  } catch (error) {
    if (error instanceof JsonError) return body.toString('utf8');
    throw error;
  }
}
