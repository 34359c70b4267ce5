import { realpathSync } from 'node:fs';
import { isAbsolute, normalize, relative, resolve, sep } from 'node:path';
import { GatewayError } from '../../domain/errors.ts';
import { isYaml } from './file-names.ts';

const DEFAULT_FOLDER = '/run/secrets';

/** Where Kubernetes and clouds mount the pod's own credentials, below /run/secrets or /var/run/secrets. */
const POD_S_OWN = /\/(kubernetes\.io|eks\.amazonaws\.com)(\/|$)/;

/** Kernel file systems, which expose the process's own environment and memory. */
const KERNEL_S = /^\/(proc|sys|dev)(\/|$)/;

/**
 * The folders of `SECRET_FOLDERS` (absolute, separated by colons; default `/run/secrets`) for `${file:…}`.
 * @throws GatewayError `CANNOT_START` for a relative folder, `/`, or the kernel's
 */
export function secretFolders(env: NodeJS.ProcessEnv): readonly string[] {
  const folders = (env.SECRET_FOLDERS || DEFAULT_FOLDER).split(':').filter((it) => it !== '');
  for (const folder of folders) {
    const path = normalize(folder);
    if (isAbsolute(path) && path !== '/' && !KERNEL_S.test(path)) continue;
    throw new GatewayError(
      'CANNOT_START',
      `SECRET_FOLDERS must be absolute folders, such as ${DEFAULT_FOLDER}: ${folder} is not one to take secrets from`,
    );
  }
  return folders;
}

/** The real path behind a path, if a file may be read there. */
export type SecretPlace =
  | { readonly ok: true; readonly realPath: string }
  | { readonly ok: false; readonly reason: string };

/** Restricts `${file:…}` to the secret folders and the configuration folder, but for the configuration's files. */
export class SecretPlaces {
  readonly #folders: readonly string[];
  readonly #configFolder: string;

  constructor(folders: readonly string[], configFolder: string) {
    this.#folders = folders;
    this.#configFolder = resolve(configFolder);
  }

  /** Resolved again each time, because a mounted folder is replaced by switching links. */
  of(path: string): SecretPlace {
    const realPath = realOf(path);
    const configFolder = realOf(this.#configFolder);
    const allowed = [...this.#folders.map(realOf), configFolder];
    if (!allowed.some((folder) => isBelow(realPath, folder))) {
      const where = [...this.#folders, this.#configFolder].join(', ');
      return {
        ok: false,
        reason: `is in none of the folders that secrets are taken from (${where}): move it, or name its folder in SECRET_FOLDERS`,
      };
    }
    if (POD_S_OWN.test(realPath) || POD_S_OWN.test(path)) {
      return { ok: false, reason: "is the pod's own credential, not a setting" };
    }
    const isOwnFile = isBelow(realPath, configFolder) && isYaml(realPath);
    return isOwnFile
      ? { ok: false, reason: 'is a file of the configuration itself: put the value into another' }
      : { ok: true, realPath };
  }
}

/** The path with links followed; a path that does not exist stays as it is. */
export function realOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    // Reading it will report what is wrong.
    return resolve(path);
  }
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
