import { join } from 'node:path';
import { GATEWAY_FILE, passedOverBeside } from './beside.ts';
import { type CheckedFile, CheckedFiles } from './checked-file.ts';
import { isPassedOver, operatorOfFile } from './file-names.ts';
import { FileReader } from './files.ts';
import { ownSecretsIn } from './own-variables.ts';
import type { Problem } from './problems.ts';
import {
  type GatewayConfig,
  gatewaySchema,
  OPERATOR_ID,
  type OperatorFile,
  operatorSchema,
} from './schema.ts';
import { SecretPlaces, secretFolders } from './secret-folders.ts';
import { operatorVariableRule } from './secret-paths.ts';
import { createOperatorResolver, createResolver } from './variables.ts';

const OPERATORS = 'operators';

/** Everything in the folder, each file judged by itself. */
export interface FolderContent {
  readonly gateway: CheckedFile<GatewayConfig>;
  /** By the operator that the file's name says; undefined when `operators` cannot be listed. */
  readonly operators: ReadonlyMap<string, CheckedFile<OperatorFile>> | undefined;
  /** Secrets that the gateway is started with, by the variable's name: nobody else may have them. */
  readonly ownSecrets: ReadonlyMap<string, string>;
  /** What is wrong with no file in particular. */
  readonly problems: readonly Problem[];
  /** What nobody reads although it looks as if it were meant to be. */
  readonly passedOver: readonly Problem[];
}

/** The folder with `gateway.yaml` and `operators/*.yaml`. */
export class ConfigFolder {
  readonly #path: string;
  readonly #ownSecrets: ReadonlyMap<string, string>;
  readonly #files = new FileReader();
  readonly #gatewayFiles: CheckedFiles<GatewayConfig>;
  readonly #operatorFiles: CheckedFiles<OperatorFile>;

  /** @throws GatewayError `CANNOT_START` for a `SECRET_FOLDERS` that makes no sense */
  constructor(path: string, env: NodeJS.ProcessEnv) {
    const files = this.#files;
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

  /** Reads everything, one file a step, so that a caller may let other work go between. */
  *read(): Generator<undefined, FolderContent> {
    this.#files.forget();
    const ownSecrets = this.#ownSecrets;
    const gateway = this.#gatewayFiles.read(GATEWAY_FILE);
    const beside = yield* passedOverBeside(this.#files, this.#path);

    const folder = join(this.#path, OPERATORS);
    // One that is passed over is looked for as well, so that its coming is a change and is told.
    const isOf = (name: string) => operatorOfFile(name) !== undefined || isPassedOver(name);
    const listing = this.#files.list(folder, isOf);
    if (!listing.ok) {
      const problem = {
        file: OPERATORS,
        path: '',
        reason: `the folder ${folder} ${listing.reason}`,
      };
      return { gateway, operators: undefined, ownSecrets, problems: [problem], passedOver: beside };
    }
    const names = listing.names.filter((name) => !isPassedOver(name));
    const passedOver = [...beside, ...listing.names.filter(isPassedOver).map(passingOver)];
    const operators = new Map<string, CheckedFile<OperatorFile>>();
    for (const name of names) {
      yield;
      const id = operatorOfFile(name) ?? name;
      const read = checkName(id, this.#operatorFiles.read(`${OPERATORS}/${name}`));
      const twin = operators.get(id);
      operators.set(id, twin === undefined ? read : refuseTwins(twin, read));
    }
    this.#operatorFiles.keepOnly(names.map((name) => `${OPERATORS}/${name}`));
    return { gateway, operators, ownSecrets, problems: [], passedOver };
  }

  /** What differs now from what `read` saw, files of secrets included, one a step; empty when nothing does. */
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

/** `alpha.yaml` beside `alpha.yml`: nobody can say which is meant. */
function refuseTwins(
  twin: CheckedFile<OperatorFile>,
  read: CheckedFile<OperatorFile>,
): CheckedFile<OperatorFile> {
  const { file } = read;
  const reason = `is a second file of ${twin.file}'s operator: remove one of them`;
  return { ok: false, file, problems: [{ file, path: '', reason }] };
}
