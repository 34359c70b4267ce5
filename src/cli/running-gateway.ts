import { z } from 'zod';
import type { ConfigurationView } from '../config/settings-view.ts';
import type { PersonRole } from '../domain/caller.ts';
import { plain } from '../lib/plain-text.ts';
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

const signInLink = z.object({ url: z.url(), role: z.string(), expiresAt: z.string() });

/** The admin token; whoever asks a running gateway needs the one that it was started with. */
export function adminToken(env: NodeJS.ProcessEnv): string {
  const token = env.ADMIN_TOKEN;
  if (token !== undefined && token !== '') return token;
  throw new UsageError(
    'ADMIN_TOKEN is not set: set it to the one of the running gateway, or compare with a folder ' +
      'by --against <dir>',
  );
}

/** Where the gateway of this environment has its internal listener. */
export function adminAddress(env: NodeJS.ProcessEnv, option: string | undefined): string {
  const address = option ?? `http://${env.ADMIN_HOST || '127.0.0.1'}:${env.ADMIN_PORT || '9090'}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  // `localhost:9090` parses as well: as a scheme called localhost.
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return address.replace(/\/+$/, '');
  throw new UsageError(
    `the admin address ${plain(address)} is none (from --admin, or ADMIN_HOST and ADMIN_PORT): ` +
      'give e.g. http://127.0.0.1:9090',
  );
}

/**
 * The configuration that a running gateway has in force.
 * @throws CommandFailed when it cannot be had
 */
export async function fetchConfiguration(
  address: string,
  token: string,
): Promise<ConfigurationView> {
  return await ask(address, token, '/admin/config', {}, configurationView);
}

/**
 * A single-use link to the console of a running gateway.
 * @throws CommandFailed when it cannot be had
 */
export async function fetchSignInLink(address: string, token: string, role: PersonRole) {
  const init = { method: 'POST', body: JSON.stringify({ role }) };
  return await ask(address, token, '/admin/console/links', init, signInLink);
}

async function ask<S extends z.ZodType>(
  address: string,
  token: string,
  path: string,
  init: RequestInit,
  schema: S,
): Promise<z.output<S>> {
  let response: Response;
  try {
    response = await fetch(`${address}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
  } catch (error) {
    throw new CommandFailed(
      `no gateway answers at ${address}: start it, or give its internal address by --admin <url>`,
      { cause: error },
    );
  }
  if (response.status === 401) {
    throw new CommandFailed(`the gateway at ${address} has another ADMIN_TOKEN`);
  }
  if (response.status === 404) {
    throw new CommandFailed(
      `the gateway at ${address} has no admin API: start it with ADMIN_TOKEN set`,
    );
  }
  const parsed = schema.safeParse(await jsonOf(response));
  if (response.ok && parsed.success) return parsed.data;
  throw new CommandFailed(`what answers at ${address} is no gateway (HTTP ${response.status})`);
}

async function jsonOf(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    // Not JSON is not a gateway's answer, which the caller says.
    return undefined;
  }
}
