import { ConfigFolder } from './folder/config-folder.ts';
import type { InForce } from './in-force.ts';
import { type NextInForce, nextInForce } from './next-in-force.ts';
import { ConfigError, type Problem } from './problems.ts';
import type { Configuration } from './schema/schema.ts';

/**
 * Reads `gateway.yaml` and `operators/*.yaml` of a folder. @param env where `${NAME}` is looked up
 * @throws ConfigError naming every problem of every file
 */
export function loadConfiguration(folder: string, env: NodeJS.ProcessEnv): Configuration {
  const { inForce, problems } = loadOver(undefined, new ConfigFolder(folder, env));
  if (problems.length > 0) throw new ConfigError(problems);
  return configurationOf(inForce);
}

/** The valid part of a folder, and the problems of the rest. */
export interface PartlyLoaded {
  /** Undefined when `gateway.yaml` is not valid: no operator is complete without it. */
  readonly configuration: Configuration | undefined;
  readonly problems: readonly Problem[];
}

/** Reads a folder for people who work on one operator: another operator's broken file is only reported. */
export function loadPartly(folder: string, env: NodeJS.ProcessEnv): PartlyLoaded {
  const { next, problems } = readWhole(new ConfigFolder(folder, env), undefined);
  return { configuration: next && configurationOf(next), problems };
}

/** The configuration that a process starts with. */
interface Loaded {
  readonly inForce: InForce;
  readonly problems: readonly Problem[];
}

/**
 * The first reading of a process: an operator's invalid file stops no start.
 * @param lastGood the configuration in force in the processes next to this one, which replaces invalid files
 * @throws ConfigError without it if `gateway.yaml` is invalid or the operators' folder cannot be listed
 */
export function loadOver(lastGood: InForce | undefined, folder: ConfigFolder): Loaded {
  const { next = lastGood, problems, listsOperators } = readWhole(folder, lastGood);
  if (next === undefined || (lastGood === undefined && !listsOperators)) {
    throw new ConfigError(problems);
  }
  return { inForce: next, problems };
}

/** Everything in a folder, over what was in force before, if anything was. */
export function readWhole(
  folder: ConfigFolder,
  previous: InForce | undefined,
): NextInForce & { readonly listsOperators: boolean } {
  const reading = folder.read();
  let step = reading.next();
  while (!step.done) step = reading.next();
  const listsOperators = step.value.operators !== undefined;
  return { ...nextInForce(step.value, previous), listsOperators };
}

/** The configuration in the form its consumers use. */
export function configurationOf(inForce: InForce): Configuration {
  const { gateway, operators, invalidOperators } = inForce;
  const byId = [...operators]
    .map(([id, { config }]) => [id, config] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.freeze({ gateway, operators: new Map(byId), invalidOperators });
}
