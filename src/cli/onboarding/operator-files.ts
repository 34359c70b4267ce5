import {
  closeSync,
  existsSync,
  linkSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { operatorOfFile } from '../../config/folder/file-names.ts';
import { FileReader } from '../../config/folder/files.ts';
import { jsonSchemaFiles } from '../../config/schema/json-schema.ts';
import { errorMessage } from '../../lib/faults.ts';
import { CommandFailed } from '../failures.ts';
import { makeFolder } from './make-folder.ts';
import { cidIn } from './new-operator.ts';

/** A secret in a file of its own. */
export interface SecretFile {
  readonly path: string;
  readonly value: string;
}

const SCHEMA = 'operator.schema.json';

/** What a new operator with this id would collide with in a folder; undefined if nothing. */
export function collisionIn(folder: string, id: string, cid: string): string | undefined {
  const files = new FileReader();
  for (const name of listing(join(folder, 'operators'))) {
    if (operatorOfFile(name) === id) {
      return `operators/${name} already exists: edit it, or choose another id`;
    }
    // One that cannot be read is for `config check` to tell.
    const read = files.read(join(folder, 'operators', name));
    if (read.ok && cidIn(read.text) === cid) {
      return `${cid} is the api.cid of operators/${name}: choose another with --cid`;
    }
  }
  return undefined;
}

/**
 * Writes the secrets' files, the schema if missing, and then the operator's file, complete at once. No existing
 * file is touched. @param check called before the operator's file appears; throws to write nothing
 * @returns the paths written @throws CommandFailed; then nothing is left behind
 */
export function writeOperator(
  folder: string,
  id: string,
  text: string,
  secrets: readonly SecretFile[],
  check: () => void,
): readonly string[] {
  const written: string[] = [];
  const write = (path: string, content: string, mode: number) => {
    const file = openSync(path, 'wx', mode);
    // Before its content: a full disk leaves the file empty, and the next try would refuse it as somebody else's.
    written.push(path);
    try {
      writeFileSync(file, content);
    } finally {
      closeSync(file);
    }
  };
  try {
    for (const { path, value } of secrets) {
      makeFolder(resolve(path, '..'), 0o700);
      write(path, `${value}\n`, 0o600);
    }
    makeFolder(join(folder, 'operators'));
    const schema = join(folder, SCHEMA);
    if (!existsSync(schema)) write(schema, jsonSchemaFiles()[SCHEMA] ?? '', 0o644);
    const target = join(folder, 'operators', `${id}.yaml`);
    check();
    // A dotfile, which the gateway ignores; a link fails if the name is taken.
    const draft = join(folder, 'operators', `.${id}.yaml.new`);
    try {
      writeFileSync(draft, text, { mode: 0o644 });
      linkSync(draft, target);
      written.push(target);
    } finally {
      rmSync(draft, { force: true });
    }
    return written;
  } catch (error) {
    for (const path of written) rmSync(path, { force: true });
    const why = errorMessage(error);
    throw new CommandFailed(`nothing was written: ${why}`, { cause: error });
  }
}

function listing(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => operatorOfFile(name) !== undefined);
  } catch {
    // A folder that does not exist yet has nothing to collide with; writing reports other faults.
    return [];
  }
}
