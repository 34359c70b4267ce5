import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { loadConfiguration } from '../../../src/config/loader.ts';
import { ConfigError } from '../../../src/config/problems.ts';
import type { Configuration, OperatorConfig } from '../../../src/config/schema/schema.ts';

/** A separate secret for each: none may be shared. */
export const SERVICE_SECRET = 'the-secret-that-the-service-shares';
export const walletSecret = (id: string) => `the-secret-that-${id}s-wallet-shares`;
export const apiSecret = (id: string) => `the-secret-that-${id}-signs-its-requests-with`;

/** The smallest valid `gateway.yaml`. */
export const GATEWAY = `
service:
  cid: aggregator-key
  secrets: [${SERVICE_SECRET}]
  bonusApiUrl: https://s2s.example
`;

/** The smallest valid operator file; `more` is added at its top level. */
export function operatorYaml(id: string, more = '', wallet = ''): string {
  return `
id: ${id}
name: Operator ${id}
wallet:
  baseUrl: https://wallet.${id}.example/sportsbook
  secrets: [${walletSecret(id)}]
${wallet}
api: { cid: ${id}-key, secrets: [${apiSecret(id)}] }
currencies: [EUR]
${more}
`;
}

/** A temporary folder with these files by relative path; it is removed after the test. */
export function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'configuration-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'operators'));
  for (const [name, text] of Object.entries(files)) put(folder, name, text);
  return folder;
}

export function put(folder: string, name: string, text: string | Buffer): void {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Loads a folder of these files, with a minimal `gateway.yaml` unless they include one. */
export function load(
  files: Readonly<Record<string, string>>,
  env: NodeJS.ProcessEnv = {},
): Configuration {
  return loadConfiguration(folderWith({ 'gateway.yaml': GATEWAY, ...files }), env);
}

/** The operator `alpha` from a file with these settings in addition to the required ones. */
export function loadAlpha(more = '', wallet = '', env: NodeJS.ProcessEnv = {}): OperatorConfig {
  const { operators } = load({ 'operators/alpha.yaml': operatorYaml('alpha', more, wallet) }, env);
  const alpha = operators.get('alpha');
  if (alpha === undefined) throw new Error('alpha is not in force');
  return alpha;
}

/** The lines that refuse these files; empty if they are accepted. */
export function problemsOf(
  files: Readonly<Record<string, string>>,
  env: NodeJS.ProcessEnv = {},
): string[] {
  return linesOf(() => load(files, env));
}

/** The lines that refuse `alpha` with these settings in addition to the required ones. */
export function alphaProblems(more = '', wallet = '', env: NodeJS.ProcessEnv = {}): string[] {
  return linesOf(() => loadAlpha(more, wallet, env));
}

export function gatewayProblems(more: string, env: NodeJS.ProcessEnv = {}): string[] {
  return problemsOf({ 'gateway.yaml': `${GATEWAY}${more}\n` }, env);
}

function linesOf(attempt: () => unknown): string[] {
  try {
    attempt();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n');
    throw error;
  }
}
