import { isSomebodyHere } from './presence.ts';
import type { Answers, Route } from './wire.ts';

/** An answer other than 2xx, or none at all (`status` 0). */
export class AnswerError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'AnswerError';
    this.status = status;
  }
}

export interface CallOptions {
  /** The variable parts of the path, by name. */
  readonly path?: Readonly<Record<string, string>>;
  /** Undefined and empty values are left out. */
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  /** Sent as it is, instead of a JSON body. */
  readonly file?: Blob;
  readonly signal?: AbortSignal;
}

/** The break-glass token that a person typed. Only this tab has it, and loses it when it is closed or reloaded. */
let typedToken: string | undefined;

export function setTypedToken(token: string | undefined): void {
  typedToken = token;
}

/**
 * Calls the admin API.
 * @throws AnswerError
 */
export async function call<R extends Route>(
  route: R,
  options: CallOptions = {},
): Promise<Answers[R]> {
  const response = await asked(route, options, 'application/json');
  // The server's own types describe the answer (api/wire.ts).
  return JSON.parse(await response.text()) as Answers[R];
}

/**
 * Downloads a file from the admin API and has the browser save it under this name. A link could not send a token
 * that was typed.
 * @param accept its content type, such as `text/csv`
 * @throws AnswerError
 */
export async function download(
  route: Route,
  options: CallOptions,
  { accept, name }: { readonly accept: string; readonly name: string },
): Promise<void> {
  const response = await asked(route, options, accept);
  const address = URL.createObjectURL(await bodyOf(response));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}

/** @throws AnswerError if the answer ends early: half a file must not be saved */
async function bodyOf(response: Response): Promise<Blob> {
  try {
    return await response.blob();
  } catch {
    throw new AnswerError(0, 'The answer broke off: nothing was kept');
  }
}

async function asked(route: Route, options: CallOptions, accept: string): Promise<Response> {
  const [method = 'GET', template = ''] = route.split(' ');
  const response = await answerOf(addressOf(template, options), {
    method,
    credentials: 'same-origin',
    headers: {
      accept,
      ...(isSomebodyHere() ? {} : { 'x-wagergate-background': '1' }),
      ...(typedToken === undefined ? {} : { authorization: `Bearer ${typedToken}` }),
      ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
    ...(options.file === undefined ? {} : { body: options.file }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  if (response.ok) return response;
  const text = await response.text();
  throw new AnswerError(response.status, messageIn(text) ?? response.statusText);
}

function addressOf(template: string, { path = {}, query = {} }: CallOptions): string {
  const filled = template.replaceAll(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(path[name] ?? ''),
  );
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, value]],
  );
  return given.length === 0 ? filled : `${filled}?${new URLSearchParams(given)}`;
}

async function answerOf(address: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(address, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new AnswerError(0, 'The gateway does not answer');
  }
}

function messageIn(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && 'message' in value;
    return isObject && typeof value.message === 'string' ? value.message : undefined;
  } catch {
    // The answer came from something between here and the gateway, not from the gateway.
    return undefined;
  }
}
