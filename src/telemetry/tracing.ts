/** Facts about a span; never a token, a secret or a personal field. */
export type SpanFacts = Readonly<Record<string, string | number | undefined>>;

/** HTTP headers as they came; only the W3C trace context is read from them. */
export type CallerHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface SpanOptions {
  /** Of bounded cardinality, such as `callback place`. */
  readonly name: string;
  readonly kind: 'server' | 'client' | 'internal';
  readonly facts?: SpanFacts;
  /** Headers whose trace this span continues (W3C `traceparent`); default: the enclosing span's trace. */
  readonly caller?: CallerHeaders;
  /** How long ago it really began, in milliseconds; default 0. */
  readonly beganMsAgo?: number;
}

/** An open span. */
export interface TraceSpan {
  /** 32 hexadecimal digits, for log lines; undefined without tracing. */
  readonly traceId: string | undefined;
  set(facts: SpanFacts): void;
  /** Marks the span as failed, with a reason such as `timeout`. */
  fail(reason: string): void;
}

/** A span that records nothing. */
export const NO_SPAN: TraceSpan = {
  traceId: undefined,
  set: () => undefined,
  fail: () => undefined,
};

/** Distributed tracing, or nothing (`OTEL_EXPORTER_OTLP_ENDPOINT`). */
export interface Tracing {
  readonly isOn: boolean;
  /** Runs `work` in a span that ends with it. `work` starts synchronously; its error is rethrown. */
  span<T>(options: SpanOptions, work: (span: TraceSpan) => Promise<T>): Promise<T>;
  /** Headers with which the receiver continues the current trace; undefined or empty without tracing. */
  outgoing(): Readonly<Record<string, string>> | undefined;
  /** Exports what is left. Never rejects. */
  close(): Promise<void>;
}

export interface TracingOptions {
  /** Base address of an OTLP/HTTP receiver, without `/v1/traces`. */
  readonly endpoint: string;
  /** `service.name` of every span. */
  readonly serviceName: string;
  /** The share of traces begun here that is recorded, 0 to 1. A continued trace follows its caller's decision. */
  readonly share: number;
  /** Called at most once a minute with the reason why spans could not be exported. */
  readonly onFailure: (why: string) => void;
}

/** Runs the work without a span. */
export const noTracing: Tracing = {
  isOn: false,
  span: (_options, work) => work(NO_SPAN),
  outgoing: () => undefined,
  close: async () => undefined,
};

/** Without tracing the same object; otherwise these methods run in a span `<name>.<method>`. */
export function tracedMethods<T extends object>(
  tracing: Tracing,
  name: string,
  object: T,
  methods: readonly (keyof T & string)[],
): T {
  if (!tracing.isOn) return object;
  const names = new Set<PropertyKey>(methods);
  return new Proxy(object, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== 'function') return member;
      // Bound to the object itself, because the proxy has no private fields.
      if (!names.has(key)) return member.bind(target);
      return (...args: unknown[]) =>
        tracing.span({ name: `${name}.${String(key)}`, kind: 'internal' }, async () => {
          const result: unknown = await Reflect.apply(member, target, args);
          return result;
        });
    },
  });
}
