import { isIPv6 } from 'node:net';
import { z } from 'zod';
import type { ConfigurationView } from '../config/settings-view.ts';
import type { PersonRole } from '../domain/caller.ts';
import { jsonIn } from '../lib/json-in.ts';
import { plain } from '../lib/plain-text.ts';
import { reachableHost } from '../lib/reachable-host.ts';
import { withoutTrailingSlashes } from '../lib/trailing-slashes.ts';
import { CommandFailed, UsageError } from './failures.ts';

const ANSWER_MS_MAX = 10_000;

const settings = z.record(
  z.string(),
  z.union([z.string(), z.object({ secrets: z.array(z.string()) })]),
);
const configurationView = z.object({
  gateway: settings,
  operators: z.record(z.string(), settings),
});

const refusalAnswer = z.object({ code: z.int(), message: z.string() });
/** What the internal listener answers for an unknown path. */
const NO_ENDPOINT = 'No such endpoint';

const OTHER_ADDRESS = 'give its internal address with --admin <url>';

const signInLink = z.object({ url: z.url(), role: z.string(), expiresAt: z.string() });

/** The description of `--admin`, of commands that call a running gateway. */
export const ADMIN_OPTION =
  'internal address of the running gateway (default: by ADMIN_HOST and ADMIN_PORT, else http://127.0.0.1:9090)';

/** The admin token of the running gateway. @param otherwise what works without one, for the error */
export function adminToken(env: NodeJS.ProcessEnv, otherwise = ''): string {
  const token = env.ADMIN_TOKEN?.trim();
  if (token !== undefined && token !== '') return token;
  throw new UsageError(
    `ADMIN_TOKEN is not set: set it to the one of the running gateway${otherwise}`,
  );
}

/** The address of the internal listener of this environment's gateway. @throws UsageError */
export function adminAddress(env: NodeJS.ProcessEnv, option: string | undefined): string {
  const host = reachableHost(env.ADMIN_HOST || '127.0.0.1');
  const address =
    option ?? `http://${isIPv6(host) ? `[${host}]` : host}:${env.ADMIN_PORT || '9090'}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  // `localhost:9090` parses as well: as a scheme called localhost.
  if (url?.protocol === 'http:' || url?.protocol === 'https:')
    return withoutTrailingSlashes(address);
  throw new UsageError(
    `the admin address ${plain(address)} is none (from --admin, or ADMIN_HOST and ADMIN_PORT): ` +
      'give e.g. http://127.0.0.1:9090',
  );
}

const reloadResult = z.object({
  result: z.enum(['ok', 'invalid']),
  changed: z.object({
    gateway: z.boolean(),
    added: z.array(z.string()),
    updated: z.array(z.string()),
    removed: z.array(z.string()),
  }),
  problems: z.array(z.object({ file: z.string(), path: z.string(), reason: z.string() })),
});

const openItems = z.object({
  id: z.string(),
  openDeliveries: z.number().nullable(),
  heldDeliveries: z.number().nullable(),
  oldestDelivery: z.string().nullable(),
  deadDeliveries: z.number().nullable(),
  unresolvedBets: z.number().nullable(),
  countsAtLeast: z.array(z.string()),
});
const operatorStates = z.object({
  items: z.array(
    openItems.extend({
      status: z.string(),
      breaker: z.object({ read: z.string(), money: z.string() }),
      override: z.object({ read: z.string(), money: z.string() }),
      hold: z.object({ since: z.string() }).nullable(),
      releasedTo: z.number().nullable(),
    }),
  ),
  withoutFile: z.array(openItems),
  dependencies: z.object({ postgresql: z.string(), redis: z.string() }),
});

/** What is open at one operator; null: not known at present. */
export type LeftOpen = z.output<typeof openItems>;

/** A running gateway, reached by its admin API. */
export class RunningGateway {
  readonly #address: string;
  readonly #token: string;

  /** @throws UsageError if the environment has no token, or the address is invalid */
  constructor(env: NodeJS.ProcessEnv, address: string | undefined) {
    this.#address = adminAddress(env, address);
    this.#token = adminToken(env);
  }

  /** Its configuration in force. @throws CommandFailed */
  configuration(): Promise<ConfigurationView> {
    return this.#request('GET', '/admin/config', undefined, configurationView);
  }

  /** A single-use link to its console. @throws CommandFailed */
  signInLink(role: PersonRole) {
    return this.#request('POST', '/admin/console/links', { role }, signInLink);
  }

  /** The state of each operator, and operators without a file that have anything open. @throws CommandFailed */
  operators() {
    return this.#request('GET', '/admin/operators', undefined, operatorStates);
  }

  /** @throws CommandFailed */
  reload(body: object) {
    return this.#request('POST', '/admin/reload', body, reloadResult);
  }

  /** @throws CommandFailed */
  async setBreaker(operatorId: string, body: object): Promise<void> {
    const path = `/admin/operators/${encodeURIComponent(operatorId)}/breaker`;
    await this.#request('POST', path, body, z.object({ state: z.string() }));
  }

  /** @returns how many sessions were live @throws CommandFailed */
  async revokeSessions(userId: string, body: object): Promise<number> {
    const path = `/admin/players/${encodeURIComponent(userId)}/sessions/revoke`;
    const { revoked } = await this.#request('POST', path, body, z.object({ revoked: z.int() }));
    return revoked;
  }

  async #request<S extends z.ZodType>(
    method: string,
    path: string,
    body: object | undefined,
    schema: S,
  ): Promise<z.output<S>> {
    const address = this.#address;
    let response: Response;
    try {
      response = await fetch(`${address}${path}`, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        headers: { authorization: `Bearer ${this.#token}` },
        // To another host the token would not go along, and of a change only the question would be left.
        redirect: 'manual',
        signal: AbortSignal.timeout(ANSWER_MS_MAX),
      });
    } catch (error) {
      throw unanswered(address, method, error);
    }
    const answer = await jsonOf(address, method, response);
    const refusal = refusalAnswer.safeParse(answer);
    if (response.status === 401 && refusal.success) {
      throw new CommandFailed(`the gateway at ${address} has another ADMIN_TOKEN`);
    }
    if (response.status === 404 && refusal.data?.message === NO_ENDPOINT) {
      throw new CommandFailed(
        `the gateway at ${address} has no admin API: give its internal address (ADMIN_PORT), or start it with ADMIN_TOKEN set`,
      );
    }
    if (!response.ok && refusal.success) throw new CommandFailed(plain(refusal.data.message));
    const parsed = schema.safeParse(answer);
    if (response.ok && parsed.success) return parsed.data;
    // Another program, a proxy that got no answer from the gateway behind it, or another release of it.
    throw new CommandFailed(
      `what answers at ${address} is not a gateway of this release (HTTP ${response.status}): ` +
        `${OTHER_ADDRESS}${afterwards(method)}`,
    );
  }
}

/** Undici's and the system's codes for an established connection that broke. */
const BROKEN = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

function unanswered(address: string, method: string, error: unknown): CommandFailed {
  const { name, cause } = error instanceof Error ? error : new Error(String(error));
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (name !== 'TimeoutError' && !BROKEN.has(code)) {
    return new CommandFailed(`no gateway answers at ${address}: start it, or ${OTHER_ADDRESS}`, {
      cause: error,
    });
  }
  const how =
    name === 'TimeoutError'
      ? `did not answer within ${ANSWER_MS_MAX / 1_000} s`
      : 'broke off before it answered';
  return new CommandFailed(`what runs at ${address} ${how}${afterwards(method)}`, { cause: error });
}

function afterwards(method: string): string {
  return method === 'GET'
    ? ''
    : ': what was asked may have been done all the same, look before you repeat it';
}

async function jsonOf(address: string, method: string, response: Response): Promise<unknown> {
  const text = await response.text().catch((error: unknown) => {
    throw unanswered(address, method, error);
  });
  // Anything but JSON is not a gateway's answer, which the caller reports.
  return jsonIn(text);
}
