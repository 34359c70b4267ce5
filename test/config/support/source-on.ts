import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { ConfigError } from '../../../src/config/problems.ts';
import type { Configuration } from '../../../src/config/schema/schema.ts';
import { ConfigurationSource, type ReloadResult } from '../../../src/config/source.ts';
import { folderWith, GATEWAY, operatorYaml, put } from './folder.ts';

interface LogLine {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly facts: object;
}

export const three = () => ({
  'gateway.yaml': GATEWAY,
  'operators/alpha.yaml': operatorYaml('alpha'),
  'operators/beta.yaml': operatorYaml('beta'),
  'operators/gamma.yaml': operatorYaml('gamma'),
});

/** A source on a temporary folder, with everything that it logs. */
export function sourceOn(files: Readonly<Record<string, string>>, env: NodeJS.ProcessEnv = {}) {
  const folder = folderWith(files);
  const log: LogLine[] = [];
  const reloads: ReloadResult[] = [];
  const changes: { next: Configuration; previous: Configuration }[] = [];
  const source = new ConfigurationSource({
    folder,
    env,
    logger: {
      info: (facts, message) => log.push({ level: 'info', message, facts }),
      warn: (facts, message) => log.push({ level: 'warn', message, facts }),
      error: (facts, message) => log.push({ level: 'error', message, facts }),
    },
    onReload: (result) => reloads.push(result),
  });
  onTestFinished(() => source.close());
  source.onChange((next, previous) => changes.push({ next, previous }));
  return {
    source,
    folder,
    log,
    reloads,
    changes,
    put: (name: string, text: string) => put(folder, name, text),
    remove: (name: string) => rmSync(join(folder, name), { recursive: true }),
    rename: (from: string, to: string) => renameSync(join(folder, from), join(folder, to)),
  };
}

export const linesOf = (result: ReloadResult) =>
  new ConfigError(result.problems).message.split('\n');
