import {
  type Context,
  DiagLogLevel,
  defaultTextMapGetter,
  defaultTextMapSetter,
  diag,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { withoutTrailingSlashes } from '../lib/trailing-slashes.ts';
import {
  NO_SPAN,
  type SpanFacts,
  type SpanOptions,
  type TraceSpan,
  type Tracing,
  type TracingOptions,
} from './tracing.ts';

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
} as const;

/** Spans queued beyond this are dropped, to save memory for bets. */
const QUEUE_MAX = 8_192;
const EXPORT_EVERY_MS = 2_000;
const EXPORT_TIMEOUT_MS = 5_000;
const REPORT_FAILURE_EVERY_MS = 60_000;

/** Spans by OpenTelemetry over OTLP/HTTP; only the SDK's diagnostic logger is registered globally. */
export function createOtlpTracing(options: TracingOptions): Tracing {
  const report = nowAndThen(options.onFailure);
  reportDiagnostics(report);
  const provider = providerFor(options);
  const tracer = provider.getTracer('wagergate');
  const contexts = new AsyncLocalStorageContextManager().enable();
  const propagator = new W3CTraceContextPropagator();

  const parentOf = ({ caller }: SpanOptions): Context =>
    caller === undefined
      ? contexts.active()
      : propagator.extract(ROOT_CONTEXT, caller, defaultTextMapGetter);

  const begin = async <T>(
    options: SpanOptions,
    work: (span: TraceSpan) => Promise<T>,
  ): Promise<T> => {
    const parent = parentOf(options);
    const span = tracer.startSpan(
      options.name,
      { kind: KINDS[options.kind], startTime: Date.now() - (options.beganMsAgo ?? 0) },
      parent,
    );
    const recorded = spanOf(span);
    if (options.facts !== undefined) recorded.set(options.facts);
    try {
      return await contexts.with(trace.setSpan(parent, span), () => work(recorded));
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: nameOf(error) });
      throw error;
    } finally {
      span.end();
    }
  };

  return {
    isOn: true,
    span: (spanOptions, work) => {
      const around =
        spanOptions.caller === undefined ? trace.getSpan(contexts.active()) : undefined;
      // The usual case: in a trace that is not recorded, inner spans are not created at all.
      return around?.isRecording() === false ? work(spanOf(around)) : begin(spanOptions, work);
    },
    outgoing: () => {
      const headers: Record<string, string> = {};
      propagator.inject(contexts.active(), headers, defaultTextMapSetter);
      return headers;
    },
    close: async () => {
      try {
        await provider.shutdown();
      } catch (error) {
        report(nameOf(error));
      }
    },
  };
}

function providerFor(options: TracingOptions): TracerProvider {
  return new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': options.serviceName }))
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(options.share) }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({
          url: `${withoutTrailingSlashes(options.endpoint)}/v1/traces`,
          timeoutMillis: EXPORT_TIMEOUT_MS,
        }),
        maxQueueSize: QUEUE_MAX,
        scheduledDelayMillis: EXPORT_EVERY_MS,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
      }),
    ],
  });
}

function spanOf(span: OtelSpan): TraceSpan {
  const { traceId } = span.spanContext();
  if (!span.isRecording()) return { ...NO_SPAN, traceId };
  return {
    traceId,
    set: (facts) => void span.setAttributes(prefixed(facts)),
    fail: (reason) => void span.setStatus({ code: SpanStatusCode.ERROR, message: reason }),
  };
}

function prefixed(facts: SpanFacts): Record<string, string | number> {
  const attributes: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(facts)) {
    if (value !== undefined) attributes[`wagergate.${name}`] = value;
  }
  return attributes;
}

/** Limits how often an unreachable receiver is reported: not once per batch, and not again at the end. */
function nowAndThen(onFailure: (why: string) => void): (why: string) => void {
  let reportedAtMs = Number.NEGATIVE_INFINITY;
  return (why) => {
    const nowMs = performance.now();
    if (nowMs - reportedAtMs < REPORT_FAILURE_EVERY_MS) return;
    reportedAtMs = nowMs;
    onFailure(why);
  };
}

/** Reports the SDK's own diagnostics, which are global to the process. */
function reportDiagnostics(report: (why: string) => void): void {
  const onDiagnostic = (complaint: string) => report(messageIn(complaint));
  const ignore = () => undefined;
  diag.setLogger(
    { error: onDiagnostic, warn: onDiagnostic, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}

/** The SDK reports an error as JSON with its stack; this takes the message out. */
function messageIn(complaint: string): string {
  try {
    const value: unknown = JSON.parse(complaint);
    if (typeof value === 'object' && value !== null && 'message' in value) {
      return String(value.message);
    }
  } catch {
    // Plain text already.
  }
  return complaint;
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
