import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { CODES } from '../domain/codes.ts';
import { type Answer, failure } from '../protocol/answers.ts';
import type { CallbackEndpoint, IncomingCallback } from '../protocol/callback-endpoint.ts';
import { senderAddress } from './address-matcher.ts';
import type { Strangers } from './strangers.ts';
import { hostlessRefusal } from './unreadable.ts';

/** A target's path, without its query; some proxies also name the origin before it. */
const PATH = /^(?:https?:\/\/[^/?#]*)?([^?#]*)/i;

export interface FrontOptions {
  readonly endpoints: readonly CallbackEndpoint[];
  readonly strangers: Strangers;
  readonly bodyBytesMax: number;
  readonly isProxy: (address: string | undefined) => boolean;
  readonly arrivalOf: (request: IncomingMessage) => number;
  /** Whether a connection ends with its next answer. */
  readonly isDraining: () => boolean;
  /** Logs what an endpoint threw. */
  readonly answerTo: (error: unknown, endpoint: CallbackEndpoint) => Answer;
}

/**
 * Admits every request, and serves the callbacks; all others are Fastify's. On Fastify, a callback's way in and
 * out took the processor half as long again.
 */
export class Front {
  readonly #options: FrontOptions;

  constructor(options: FrontOptions) {
    this.#options = options;
  }

  /** @param fastify Fastify's own handler */
  take(request: IncomingMessage, response: ServerResponse, fastify: RequestListener): void {
    if (!this.#options.strangers.admits(request)) return;
    const hostless = hostlessRefusal(request);
    const endpoint = this.#endpointOf(request);
    if (hostless !== undefined) send(response, hostless, true);
    else if (endpoint === undefined) fastify(request, response);
    else this.#receive(endpoint, request, response);
  }

  #endpointOf({ method, url = '' }: IncomingMessage): CallbackEndpoint | undefined {
    // Faster than a map, for which a text would have to be made and hashed for each request.
    const at = (path: string | undefined) =>
      this.#options.endpoints.find((one) => one.path === path && one.method === method);
    return at(url) ?? at(PATH.exec(url)?.[1]);
  }

  /** Reads the body. If it breaks off, `refuseUnreadable` answers, or nobody waits any more. */
  #receive(endpoint: CallbackEndpoint, request: IncomingMessage, response: ServerResponse): void {
    const { strangers, isProxy, arrivalOf, bodyBytesMax } = this.#options;
    const { headers } = request;
    const arrivedAtMs = arrivalOf(request);
    const refuse = () => {
      const refusal = tooLong(bodyBytesMax);
      endpoint.noteTooLong(arrivedAtMs, refusal);
      send(response, refusal, true);
    };
    if (Number(headers['content-length']) > bodyBytesMax) {
      refuse();
      return;
    }
    const pieces: Buffer[] = [];
    let bytes = 0;
    request.on('data', (piece: Buffer) => {
      strangers.piece(request);
      const isRefused = bytes > bodyBytesMax;
      bytes += piece.length;
      if (bytes <= bodyBytesMax) pieces.push(piece);
      else if (!isRefused) refuse();
    });
    request.on('end', () => {
      if (bytes > bodyBytesMax) return;
      const [first] = pieces;
      const callback = {
        headers,
        body: first?.length === bytes ? first : Buffer.concat(pieces),
        arrivedAtMs,
        ip: senderAddress(request, isProxy),
        trust: () => strangers.trust(request, undefined),
        whenClosed: (ended: () => void) => response.on('close', ended),
      };
      void this.#answer(endpoint, callback, response);
    });
  }

  async #answer(
    endpoint: CallbackEndpoint,
    callback: IncomingCallback,
    response: ServerResponse,
  ): Promise<void> {
    let answer: Answer;
    try {
      answer = await endpoint.answer(callback);
    } catch (error) {
      answer = this.#options.answerTo(error, endpoint);
    }
    send(response, answer, this.#options.isDraining());
  }
}

/** The answer to a body that is not read. */
export function tooLong(bytesMax: number): Answer {
  return failure(CODES.validation, `The body is over ${bytesMax} bytes`, 413);
}

/** @param isLast whether the connection ends with it */
function send(response: ServerResponse, { status, body }: Answer, isLast: boolean): void {
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  };
  response.writeHead(status, isLast ? { ...headers, connection: 'close' } : headers);
  response.end(body);
}
