import { NO_SPAN, type Tracing, type TracingOptions } from './trace.ts';

export type { CallerHeaders, SpanFacts, SpanOptions, Tracing, TracingOptions } from './trace.ts';

/** Runs the work without a span. */
export const noTracing: Tracing = {
  isOn: false,
  span: (_options, work) => work(NO_SPAN),
  outgoing: () => undefined,
  close: async () => undefined,
};

/** Tracing through OpenTelemetry, whose packages are loaded only if tracing is configured. */
export async function startTracing(options: TracingOptions | undefined): Promise<Tracing> {
  if (options === undefined) return noTracing;
  const { createOtlpTracing } = await import('./tracing-otlp.ts');
  return createOtlpTracing(options);
}

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
