/** Facts about a span; never a token, a secret or a personal field. */
export type SpanFacts = Readonly<Record<string, string | number | undefined>>;

/** HTTP headers as they came; only the W3C trace context is read from them. */
export type CallerHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface SpanOptions {
  /** Of bounded cardinality, such as `callback place`. */
  readonly name: string;
  readonly kind: 'server' | 'client' | 'internal';
  readonly facts?: SpanFacts;
  /** Whose trace this span continues (W3C `traceparent`); else that of the span around it. */
  readonly caller?: CallerHeaders;
  /** How long ago it really began, in milliseconds; default 0. */
  readonly beganMsAgo?: number;
}

/** A span under way. */
export interface TraceSpan {
  /** 32 hexadecimal digits, for log lines; undefined where nothing is traced. */
  readonly traceId: string | undefined;
  set(facts: SpanFacts): void;
  /** Marks the span as failed, with a reason such as `timeout`. */
  fail(reason: string): void;
}

/** Nothing is recorded of it. */
export const NO_SPAN: TraceSpan = {
  traceId: undefined,
  set: () => undefined,
  fail: () => undefined,
};

/** Distributed tracing, or nothing (`OTEL_EXPORTER_OTLP_ENDPOINT`). */
export interface Tracing {
  readonly isOn: boolean;
  /** Runs `work`, begun in this very turn, inside a span that ends with it; an error passes through. */
  span<T>(options: SpanOptions, work: (span: TraceSpan) => Promise<T>): Promise<T>;
  /** Headers that continue the present span's trace at the other side; undefined or none where nothing is traced. */
  outgoing(): Readonly<Record<string, string>> | undefined;
  /** Hands over what has not been exported yet. Never rejects. */
  close(): Promise<void>;
}

export interface TracingOptions {
  /** Base address of an OTLP/HTTP receiver, without `/v1/traces`. */
  readonly endpoint: string;
  /** `service.name` of every span. */
  readonly serviceName: string;
  /** The share of traces begun here that is recorded, 0 to 1; who continues a caller's, follows it. */
  readonly share: number;
  /** Called at most once a minute with the reason why spans could not be exported. */
  readonly onFailure: (why: string) => void;
}
