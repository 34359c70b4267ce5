import { createServer } from 'node:http';
import { listenOn, stopListening } from '../../../tools/simulator/wallet/listener.ts';

/** A span in OTLP's JSON form. */
export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly failed: boolean;
  readonly beganMs: number;
  readonly endedMs: number;
}

export interface OtlpReceiver {
  readonly endpoint: string;
  readonly spans: readonly ReceivedSpan[];
  /** `service.name` of the senders. */
  readonly services: ReadonlySet<unknown>;
  readonly text: string;
  close(): Promise<void>;
}

/** A minimal OTLP/HTTP receiver: keeps the spans that are sent to it as JSON. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const services = new Set<unknown>();
  let text = '';
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      text += body;
      if (request.url === '/v1/traces') read(JSON.parse(body), spans, services);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  const port = await listenOn(server, 0);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    spans,
    services,
    get text() {
      return text;
    },
    close: async () => {
      server.closeAllConnections();
      await stopListening(server);
    },
  };
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}
interface Request {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly name: string;
        readonly traceId: string;
        readonly spanId: string;
        readonly parentSpanId?: string;
        readonly startTimeUnixNano: string;
        readonly endTimeUnixNano: string;
        readonly attributes: readonly Attribute[];
        readonly status: { readonly code: number };
      }[];
    }[];
  }[];
}

function read(request: Request, spans: ReceivedSpan[], services: Set<unknown>): void {
  for (const { resource, scopeSpans } of request.resourceSpans) {
    services.add(valuesOf(resource.attributes)['service.name']);
    for (const span of scopeSpans.flatMap((scope) => scope.spans)) {
      spans.push({
        name: span.name,
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId,
        attributes: valuesOf(span.attributes),
        failed: span.status.code === 2,
        beganMs: Number(span.startTimeUnixNano) / 1e6,
        endedMs: Number(span.endTimeUnixNano) / 1e6,
      });
    }
  }
}

function valuesOf(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
