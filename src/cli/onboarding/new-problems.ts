import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { ConfigFolder } from '../../config/folder/config-folder.ts';
import { FileReader, type FileText, type FolderListing } from '../../config/folder/files.ts';
import { isOwnVariable } from '../../config/folder/own-variables.ts';
import { readWhole } from '../../config/loader.ts';
import { describeProblem } from '../../config/problems.ts';

/** An operator's file that is not written yet. */
export interface PlannedFile {
  readonly name: string;
  readonly text: string;
  /** The variables that it brings, which are not set yet. */
  readonly variables: Readonly<Record<string, string>>;
}

/** What would be wrong at the next start because of a new operator's file, in words. */
export function newProblems(
  folder: string,
  env: NodeJS.ProcessEnv,
  planned: PlannedFile,
): readonly string[] {
  const problemsWith = (files: FileReader, variables: PlannedFile['variables']) => {
    const all = withStandIns({ ...env, ...variables });
    return readWhole(new ConfigFolder(folder, all, files), undefined).problems.map(describeProblem);
  };
  const before = new Set(problemsWith(new FileReader(), {}));
  const after = problemsWith(new ReaderWith(folder, planned), planned.variables);
  return after.filter((problem) => !before.has(problem));
}

/** Reads the folder as if the planned file were in it. */
class ReaderWith extends FileReader {
  readonly #folder: string;
  readonly #planned: PlannedFile;

  constructor(folder: string, planned: PlannedFile) {
    super();
    this.#folder = join(folder, 'operators');
    this.#planned = planned;
  }

  override list(folder: string, wanted: (name: string) => boolean): FolderListing {
    const listing = super.list(folder, wanted);
    if (folder !== this.#folder || !listing.ok) return listing;
    return { ok: true, names: [...listing.names, this.#planned.name].sort() };
  }

  override read(path: string, realPath = path): FileText {
    const isPlanned = path === join(this.#folder, this.#planned.name);
    return isPlanned ? { ok: true, text: this.#planned.text } : super.read(path, realPath);
  }
}

/** Each variable that is not set here gets a value of its own, unless it is the gateway's. */
function withStandIns(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const standIns = new Map<string, string>();
  return new Proxy(env, {
    get: (given, name) => {
      if (typeof name !== 'string' || given[name] || isOwnVariable(name))
        return Reflect.get(given, name);
      const standIn = standIns.get(name) ?? `stand-in-${randomUUID()}`;
      standIns.set(name, standIn);
      return standIn;
    },
  });
}
