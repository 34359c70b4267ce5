/** One HTTP request, ready to be written. */
export interface HttpRequest {
  readonly method: 'POST' | 'PUT';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The exact bytes to send: the signature in the headers is over them. */
  readonly body: Buffer;
  /** An answer with a longer body counts as malformed. */
  readonly answerBytesMax: number;
}

/** One complete HTTP answer. */
export interface HttpResponse {
  readonly status: number;
  readonly contentType?: string | undefined;
  /** The `Retry-After` header of a 429, unparsed. */
  readonly retryAfter?: string | undefined;
  readonly body: Buffer;
}
