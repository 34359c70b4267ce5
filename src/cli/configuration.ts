import { readdirSync } from 'node:fs';
import { operatorOfFile } from '../config/folder/file-names.ts';
import { describeProblem, type Problem } from '../config/problems.ts';
import type { Configuration, OperatorConfig } from '../config/schema/schema.ts';
import { plain } from '../lib/plain-text.ts';
import { CommandFailed } from './failures.ts';

export type LoadedFolder =
  | { readonly ok: true; readonly folder: string; readonly configuration: Configuration }
  | { readonly ok: false; readonly folder: string; readonly problems: readonly Problem[] };

/** The folder a command works on: its `--folder`, else the one that the gateway itself would use. */
export function configFolder(env: NodeJS.ProcessEnv, folder: string | undefined): string {
  return folder ?? (env.GATEWAY_CONFIG || './config');
}

/** Reads the configuration as the gateway would at its start; returns it, or every problem of every file. */
export async function loadFolder(
  env: NodeJS.ProcessEnv,
  option: string | undefined,
): Promise<LoadedFolder> {
  const folder = configFolder(env, option);
  // Imported here: the schemas take a quarter of a second that no other command should pay.
  const { loadConfiguration } = await import('../config/loader.ts');
  const { ConfigError } = await import('../config/problems.ts');
  try {
    return { ok: true, folder, configuration: loadConfiguration(folder, env) };
  } catch (error) {
    if (error instanceof ConfigError) return { ok: false, folder, problems: error.problems };
    throw error;
  }
}

export interface PartlyLoadedFolder {
  readonly folder: string;
  /** The operators whose files are valid; undefined when `gateway.yaml` is not. */
  readonly configuration: Configuration | undefined;
  readonly problems: readonly Problem[];
}

/** Reads the valid part of the configuration: one operator's broken file does not hide the others. */
export async function loadValid(
  env: NodeJS.ProcessEnv,
  option: string | undefined,
): Promise<PartlyLoadedFolder> {
  const folder = configFolder(env, option);
  const { loadPartly } = await import('../config/loader.ts');
  return { folder, ...loadPartly(folder, env) };
}

/**
 * One operator of the configuration; undefined if there is none.
 * @throws CommandFailed when its own file or `gateway.yaml` is not valid
 */
export function validOperator(
  { folder, configuration, problems }: PartlyLoadedFolder,
  id: string,
): OperatorConfig | undefined {
  const operator = configuration?.operators.get(id);
  if (operator !== undefined) return operator;
  const [first] =
    configuration === undefined ? problems : problems.filter((one) => operatorOf(one) === id);
  if (first === undefined) return undefined;
  throw new CommandFailed(
    `${folder} is not valid (${plain(describeProblem(first))}): see all problems with \`wagergate config check\``,
  );
}

/** The operator whose file a problem is in; undefined if it is no operator's file. */
export function operatorOf({ file }: Problem): string | undefined {
  const name = /^operators\/(.*)$/.exec(file)?.[1];
  return name === undefined ? undefined : operatorOfFile(name);
}

/** The operators that have a file, even an invalid one; undefined if the folder cannot be read. */
export function operatorFiles(folder: string): readonly string[] | undefined {
  try {
    const names = readdirSync(`${folder}/operators`);
    return names.flatMap((name) => operatorOfFile(name) ?? []);
  } catch {
    // The reason does not matter to callers that only compare ids.
    return undefined;
  }
}
