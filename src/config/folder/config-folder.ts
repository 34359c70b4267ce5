import { join } from 'node:path';
import type { Problem } from '../problems.ts';
import {
  type GatewayConfig,
  gatewaySchema,
  OPERATOR_ID,
  type OperatorFile,
  operatorSchema,
} from '../schema/schema.ts';
import { type CheckedFile, CheckedFiles } from './checked-file.ts';
import { operatorOfFile } from './file-names.ts';
import { FileReader } from './files.ts';
import { ownSecretsIn } from './own-variables.ts';
import { SecretPlaces, secretFolders } from './secret-folders.ts';
import { operatorVariableRule } from './secret-paths.ts';
import { createOperatorResolver, createResolver } from './variables.ts';

const GATEWAY_FILE = 'gateway.yaml';
const OPERATORS = 'operators';

/** The content of the folder, each file checked by itself. */
export interface FolderContent {
  readonly gateway: CheckedFile<GatewayConfig>;
  /** By operator id, taken from the file's name; undefined if `operators` cannot be listed. */
  readonly operators: ReadonlyMap<string, CheckedFile<OperatorFile>> | undefined;
  /** Secrets in the gateway's own environment, by the variable's name: no file may use them. */
  readonly ownSecrets: ReadonlyMap<string, string>;
  /** Problems of no particular file. */
  readonly problems: readonly Problem[];
}

/** The folder with `gateway.yaml` and `operators/*.yaml`. */
export class ConfigFolder {
  readonly #path: string;
  readonly #ownSecrets: ReadonlyMap<string, string>;
  readonly #files: FileReader;
  readonly #gatewayFiles: CheckedFiles<GatewayConfig>;
  readonly #operatorFiles: CheckedFiles<OperatorFile>;

  /** @throws GatewayError `CANNOT_START` for an invalid `SECRET_FOLDERS` */
  constructor(path: string, env: NodeJS.ProcessEnv, files = new FileReader()) {
    this.#files = files;
    this.#path = path;
    this.#ownSecrets = ownSecretsIn(env);
    this.#gatewayFiles = new CheckedFiles<GatewayConfig>(path, files, {
      schema: gatewaySchema,
      resolve: createResolver(env, files),
    });
    const places = new SecretPlaces(secretFolders(env), path);
    this.#operatorFiles = new CheckedFiles<OperatorFile>(path, files, {
      schema: operatorSchema,
      resolve: createOperatorResolver(env, files, places),
      variableRule: operatorVariableRule,
    });
  }

  /** Reads everything, one file per step, so that the caller can yield to other work in between. */
  *read(): Generator<undefined, FolderContent> {
    this.#files.forget();
    const ownSecrets = this.#ownSecrets;
    const gateway = this.#gatewayFiles.read(GATEWAY_FILE);

    const folder = join(this.#path, OPERATORS);
    const listing = this.#files.list(folder, (name) => operatorOfFile(name) !== undefined);
    if (!listing.ok) {
      const reason = `the folder ${folder} ${listing.reason}`;
      const problems = [{ file: OPERATORS, path: '', reason }];
      return { gateway, operators: undefined, ownSecrets, problems };
    }
    const operators = new Map<string, CheckedFile<OperatorFile>>();
    for (const name of listing.names) {
      yield;
      const id = operatorOfFile(name) ?? name;
      const read = checkName(id, this.#operatorFiles.read(`${OPERATORS}/${name}`));
      const first = operators.get(id);
      operators.set(id, first === undefined ? read : refuseSecond(first, read));
    }
    this.#operatorFiles.keepOnly(listing.names.map((name) => `${OPERATORS}/${name}`));
    return { gateway, operators, ownSecrets, problems: [] };
  }

  /** What has changed since `read`, secret files included; one file per step. Empty if nothing has. */
  changes(): Generator<undefined, string> {
    return this.#files.changes();
  }
}

function checkName(id: string, read: CheckedFile<OperatorFile>): CheckedFile<OperatorFile> {
  if (!read.ok || read.value.id === id) return read;
  const reason = OPERATOR_ID.test(id)
    ? `must be ${id}, as the file is named, or the file renamed`
    : `the file's name is no operator id: rename it to ${read.value.id}.yaml`;
  return { ok: false, file: read.file, problems: [{ file: read.file, path: 'id', reason }] };
}

/** `alpha.yaml` and `alpha.yml`: it is unclear which one is meant. */
function refuseSecond(
  first: CheckedFile<OperatorFile>,
  read: CheckedFile<OperatorFile>,
): CheckedFile<OperatorFile> {
  const { file } = read;
  const reason = `is a second file of ${first.file}'s operator: remove one of them`;
  return { ok: false, file, problems: [{ file, path: '', reason }] };
}
