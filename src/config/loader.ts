import { ConfigFolder, type FolderContent } from './folder/config-folder.ts';
import type { InForce } from './in-force.ts';
import { type NextInForce, nextInForce } from './next-in-force.ts';
import { ConfigError, type Problem } from './problems.ts';
import type { Configuration } from './schema/schema.ts';

/**
 * Reads `gateway.yaml` and `operators/*.yaml` of a folder.
 *
 * @param env where `${NAME}` is looked up
 * @throws ConfigError naming every problem of every file
 */
export function loadConfiguration(folder: string, env: NodeJS.ProcessEnv): Configuration {
  return configurationOf(loadOver(undefined, new ConfigFolder(folder, env)).inForce);
}

/** The valid part of a folder, and the problems of the rest. */
export interface PartlyLoaded {
  /** Undefined when `gateway.yaml` is not valid: no operator is complete without it. */
  readonly configuration: Configuration | undefined;
  readonly problems: readonly Problem[];
  readonly passedOver: FolderContent['passedOver'];
}

/** Reads a folder for people who work on one operator: another operator's broken file is only reported. */
export function loadPartly(folder: string, env: NodeJS.ProcessEnv): PartlyLoaded {
  const { next, problems, passedOver } = readAll(new ConfigFolder(folder, env), undefined);
  return { configuration: next && configurationOf(next), problems, passedOver };
}

/** The configuration that a process starts with. */
interface Loaded {
  readonly inForce: InForce;
  readonly problems: readonly Problem[];
  readonly passedOver: FolderContent['passedOver'];
}

/**
 * The first reading of a process. Where it starts next to others, their last good version stands in for a file that has
 * become invalid.
 *
 * @param lastGood the configuration in force in the others; undefined: there are none, and all must be valid
 * @throws ConfigError without `lastGood`, naming every problem of every file
 */
export function loadOver(lastGood: InForce | undefined, folder: ConfigFolder): Loaded {
  const { next = lastGood, problems, passedOver } = readAll(folder, lastGood);
  // If gateway.yaml is missing, a passed over gateway.yml explains why.
  if (next === undefined) throw new ConfigError([...problems, ...passedOver]);
  if (lastGood === undefined && problems.length > 0) throw new ConfigError(problems);
  return { inForce: next, problems, passedOver };
}

function readAll(
  folder: ConfigFolder,
  previous: InForce | undefined,
): NextInForce & Pick<FolderContent, 'passedOver'> {
  const reading = folder.read();
  let step = reading.next();
  while (!step.done) step = reading.next();
  const { passedOver } = step.value;
  return { ...nextInForce(step.value, previous), passedOver };
}

/** The configuration in the form its consumers use. */
export function configurationOf({ gateway, operators }: InForce): Configuration {
  const byId = [...operators]
    .map(([id, { config }]) => [id, config] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.freeze({ gateway, operators: new Map(byId) });
}
