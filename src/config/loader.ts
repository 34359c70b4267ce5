import { ConfigFolder } from './config-folder.ts';
import { ConfigError } from './problems.ts';
import { type InForce, type Reconciled, reconcile } from './reconcile.ts';
import type { Configuration } from './schema.ts';

/**
 * Reads `gateway.yaml` and `operators/*.yaml` of a folder.
 *
 * @param env where `${NAME}` is looked up
 * @throws ConfigError naming every problem of every file
 */
export function loadConfiguration(folder: string, env: NodeJS.ProcessEnv): Configuration {
  return configurationOf(loadFrom(new ConfigFolder(folder, env)));
}

/**
 * The first reading of a folder: all of it must be valid.
 *
 * @throws ConfigError naming every problem of every file
 */
export function loadFrom(folder: ConfigFolder): InForce {
  const reading = folder.read();
  let step = reading.next();
  while (!step.done) step = reading.next();
  const { next, problems }: Reconciled = reconcile(step.value, undefined);
  if (next === undefined || problems.length > 0) throw new ConfigError(problems);
  return next;
}

/** What consumers see of it. */
export function configurationOf({ gateway, operators }: InForce): Configuration {
  const byId = [...operators]
    .map(([id, { config }]) => [id, config] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.freeze({ gateway, operators: new Map(byId) });
}
