import type { ShownCall } from '../certificate/certificate.ts';

/** The contents of a HAR file. */
export interface HarOptions {
  readonly version: string;
  readonly calls: readonly ShownCall[];
}

/** Calls as an HTTP Archive 1.2, tokens and signatures masked; headers of answers are not kept. */
export function harOf({ version, calls }: HarOptions): object {
  return {
    log: {
      version: '1.2',
      creator: { name: 'wagergate certify', version },
      entries: calls.map(entryOf),
    },
  };
}

function entryOf({ operation, at, ms, request, answer, error }: ShownCall): object {
  const bytes = Buffer.byteLength(request.body);
  const type = 'application/json';
  return {
    startedDateTime: at,
    time: ms,
    request: {
      method: request.method,
      url: request.url,
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: Object.entries(request.headers).map(([name, value]) => ({ name, value })),
      queryString: [],
      postData: { mimeType: type, text: request.body },
      headersSize: -1,
      bodySize: bytes,
    },
    response: {
      status: answer?.status ?? 0,
      statusText: '',
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: [],
      content: {
        size: Buffer.byteLength(answer?.body ?? ''),
        mimeType: type,
        text: answer?.body ?? '',
      },
      redirectURL: '',
      headersSize: -1,
      bodySize: -1,
      ...(error === null ? {} : { _error: error }),
    },
    cache: {},
    timings: { send: 0, wait: ms, receive: 0 },
    comment: operation,
  };
}
