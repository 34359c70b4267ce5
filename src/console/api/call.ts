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

/** What was asked has left, and no whole answer of the gateway came back. */
class Unanswered extends AnswerError {
  constructor(message = 'The gateway does not answer') {
    super(0, message);
    this.name = 'Unanswered';
  }
}

/** Something in between answered, such as a proxy with a sign-in. Nobody knows whether it passed the request on. */
function notTheGateway(what: string): Unanswered {
  return new Unanswered(
    `What answers is not the gateway (${what}): if a proxy in front of it wants you to sign in, do so in another tab`,
  );
}

/** Whether a change may have been made all the same: its answer was lost, or says only that something broke. */
export function mayHaveBeenDone(error: Error): boolean {
  return error instanceof Unanswered || (error instanceof AnswerError && error.status >= 500);
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

/** Ends the session of this browser and forgets a typed token. @throws AnswerError where it may go on */
export async function signOut(): Promise<void> {
  typedToken = undefined;
  const response = await answerOf('/console/sign-out', { method: 'POST' });
  if (!response.ok) throw await refusalIn(response);
  // The page of something else says nothing about the session here.
  if (response.status !== 204) throw notTheGateway(wordsOf(response));
}

/** A question is not waited for longer: its connection may have died without a word, as under a laptop that slept. */
const QUESTION_MS = 30_000;

/** Asks the admin API. @throws AnswerError */
export async function call<R extends Route>(
  route: R,
  options: CallOptions = {},
): Promise<Answers[R]> {
  const limit = new AbortController();
  const timer = window.setTimeout(() => limit.abort(new Unanswered()), QUESTION_MS);
  // What changes something takes as long as it takes.
  if (!route.startsWith('GET ')) window.clearTimeout(timer);
  const signal = AbortSignal.any([limit.signal, ...(options.signal ? [options.signal] : [])]);
  try {
    const response = await asked(route, { ...options, signal }, 'application/json');
    const text = await wholeOf(response.text(), new Unanswered());
    // The server's own types describe the answer (api/wire.ts).
    return JSON.parse(text) as Answers[R];
  } catch (error) {
    if (error instanceof SyntaxError) throw notTheGateway('no JSON');
    // Firefox calls a body that ends at the limit cancelled; Chromium gives the limit's own reason.
    throw limit.signal.aborted ? limit.signal.reason : error;
  } finally {
    window.clearTimeout(timer);
  }
}

/**
 * Downloads a file and has the browser save it: a link could not send a typed token.
 * @param accept its content type @throws AnswerError
 */
export async function download(
  route: Route,
  options: CallOptions,
  { accept, name }: { readonly accept: string; readonly name: string },
): Promise<void> {
  const response = await asked(route, options, accept);
  const type = response.headers.get('content-type') ?? 'no type';
  if (!type.startsWith(accept)) throw notTheGateway(type);
  const broken = new AnswerError(0, 'The answer broke off: nothing was kept');
  const address = URL.createObjectURL(await wholeOf(response.blob(), broken));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}

/** @throws AnswerError if the answer ends early: half a file must not be saved, nor half an answer shown */
async function wholeOf<T>(reading: Promise<T>, broken: AnswerError): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    throw isCancelled(error) ? error : broken;
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
  throw await refusalIn(response);
}

async function refusalIn(response: Response): Promise<AnswerError> {
  const text = await wholeOf(response.text(), new Unanswered());
  const message = messageIn(text);
  // Not even its status: a 401 would ask for the gateway's token, and a 404 say that a bet does not exist.
  if (message === undefined) return notTheGateway(wordsOf(response));
  return new AnswerError(response.status, message);
}

function wordsOf({ status, statusText }: Response): string {
  return `${status} ${statusText}`.trim();
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
  let response: Response;
  try {
    // The gateway never redirects here; whoever does would get a change as another question, or a file as its page.
    response = await fetch(address, { ...init, redirect: 'manual' });
  } catch (error) {
    throw isCancelled(error) ? error : new Unanswered();
  }
  if (response.type === 'opaqueredirect') throw notTheGateway('a redirect');
  return response;
}

/** Whether the console's own files can be had, which need no sign-in. @throws AnswerError */
export async function isServed(): Promise<boolean> {
  const { ok } = await answerOf('/console', { cache: 'no-store' });
  return ok;
}

/** Nobody waits for the answer any more. */
function isCancelled(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

function messageIn(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return undefined;
    // Others say a message as well; ours come with a code.
    if (!('code' in value) || !('message' in value)) return undefined;
    return typeof value.message === 'string' ? value.message : undefined;
  } catch {
    // The answer came from something between here and the gateway, not from the gateway.
    return undefined;
  }
}

/**
 * After this long without a key, click, scroll or touch, the page's own requests no longer keep the session alive.
 */
const HERE_MS = 60_000;

let lastSeenMs = performance.now();

for (const kind of ['pointerdown', 'keydown', 'wheel', 'touchstart'] as const) {
  window.addEventListener(kind, () => (lastSeenMs = performance.now()), { passive: true });
}

/** Whether somebody has used this page recently. */
function isSomebodyHere(): boolean {
  return performance.now() - lastSeenMs < HERE_MS;
}
