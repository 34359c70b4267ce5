/** One HTTP request, ready to be written. */
export interface HttpRequest {
  readonly method: 'POST' | 'PUT';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The exact bytes to send: the signature in the headers is over them. */
  readonly body: Buffer;
  /** An answer with a longer body is a broken one. */
  readonly answerBytesMax: number;
}

/** One complete HTTP answer. */
export interface HttpResponse {
  readonly status: number;
  readonly contentType?: string | undefined;
  /** Of a 429: its `Retry-After`, as it came. */
  readonly retryAfter?: string | undefined;
  readonly body: Buffer;
}
