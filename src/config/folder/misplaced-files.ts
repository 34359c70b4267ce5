import { join } from 'node:path';
import type { Problem } from '../problems.ts';
import { isYaml } from './file-names.ts';
import type { FileReader } from './files.ts';

export const GATEWAY_FILE = 'gateway.yaml';

const MEANT_AS_GATEWAY = /^gateway\.(?:ya?ml|json)$/i;
/** An operator's file has both as top-level keys; a `compose.yaml` or a list of secrets does not. */
const OPERATORS_KEYS = [/^["']?id["']?\s*:/m, /^["']?wallet["']?\s*:/m];

const NO_GATEWAY = `is not read: the gateway's own settings are read from ${GATEWAY_FILE} alone; rename it or remove it`;
const NO_OPERATOR =
  "is not read: an operator's file stands in the folder operators/; move it there or remove it";

/**
 * Files next to `gateway.yaml` that look as if they were read, but are not: `gateway.yml`, or an operator's file. Reads
 * one file per step. The folder stays watched, so that such a file added later counts as a change.
 */
export function* misplacedFiles(
  files: FileReader,
  folder: string,
): Generator<undefined, readonly Problem[]> {
  const listing = files.list(folder, (name) => !name.startsWith('.') && mayBeMeant(name));
  const found: Problem[] = [];
  // If the folder cannot be listed, the problem of gateway.yaml says why.
  for (const file of listing.ok ? listing.names : []) {
    yield;
    if (MEANT_AS_GATEWAY.test(file)) found.push({ file, path: '', reason: NO_GATEWAY });
    else if (isOperators(files.read(join(folder, file)))) {
      found.push({ file, path: '', reason: NO_OPERATOR });
    }
  }
  return found;
}

function mayBeMeant(name: string): boolean {
  return name !== GATEWAY_FILE && (isYaml(name) || MEANT_AS_GATEWAY.test(name));
}

function isOperators(read: ReturnType<FileReader['read']>): boolean {
  return read.ok && OPERATORS_KEYS.every((key) => key.test(read.text));
}
