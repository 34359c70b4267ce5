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
import { isPassedOver, operatorOfFile } from './file-names.ts';
import { FileReader } from './files.ts';
import { GATEWAY_FILE, misplacedFiles } from './misplaced-files.ts';
import { ownSecretsIn } from './own-variables.ts';
import { SecretPlaces, secretFolders } from './secret-folders.ts';
import { operatorVariableRule } from './secret-paths.ts';
import { createOperatorResolver, createResolver } from './variables.ts';

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
  /** Files that are not read although they look as if they were meant to be. */
  readonly passedOver: readonly Problem[];
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
    const misplaced = yield* misplacedFiles(this.#files, this.#path);

    const folder = join(this.#path, OPERATORS);
    // Files that are passed over are listed too, so that adding one counts as a change and is reported.
    const isOf = (name: string) => operatorOfFile(name) !== undefined || isPassedOver(name);
    const listing = this.#files.list(folder, isOf);
    if (!listing.ok) {
      const problem = {
        file: OPERATORS,
        path: '',
        reason: `the folder ${folder} ${listing.reason}`,
      };
      return {
        gateway,
        operators: undefined,
        ownSecrets,
        problems: [problem],
        passedOver: misplaced,
      };
    }
    const names = listing.names.filter((name) => !isPassedOver(name));
    const passedOver = [...misplaced, ...listing.names.filter(isPassedOver).map(passingOver)];
    const operators = new Map<string, CheckedFile<OperatorFile>>();
    for (const name of names) {
      yield;
      const id = operatorOfFile(name) ?? name;
      const read = checkName(id, this.#operatorFiles.read(`${OPERATORS}/${name}`));
      const first = operators.get(id);
      operators.set(id, first === undefined ? read : refuseSecond(first, read));
    }
    this.#operatorFiles.keepOnly(names.map((name) => `${OPERATORS}/${name}`));
    return { gateway, operators, ownSecrets, problems: [], passedOver };
  }

  /** What has changed since `read`, secret files included; one file per step. Empty if nothing has. */
  changes(): Generator<undefined, string> {
    return this.#files.changes();
  }
}

function passingOver(name: string): Problem {
  const reason =
    "is not read: an operator's file is named as its id, with .yaml or .yml behind it, such as gamma.yaml";
  return { file: `${OPERATORS}/${name}`, path: '', reason };
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
