import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { run } from './command.ts';

/** Where packages are unpacked, once for all runs; `npm ci` removes it. */
const CACHE = resolve(import.meta.dirname, '../../node_modules/.cache/wagergate');

/** Arguments: a folder, the package, and `all` to fetch its dependencies as well. */
const FETCH_SCRIPT = `
cd "$1" || exit 1
wanted() {
  if [ "$3" = all ]; then
    apt-get -q -y --no-install-recommends --print-uris install "$2" | sed -n "s/^'[^']*' \\([^_]*\\)_.*/\\1/p"
  else
    echo "$2"
  fi
}
fetch() {
  packages=$(wanted "$@") && [ -n "$packages" ] && apt-get -q download $packages
}
fetch "$@" || { [ "$(id -u)" = 0 ] && apt-get -q update && fetch "$@"; } || exit 1
for file in *.deb; do dpkg -x "$file" unpacked || exit 1; done
`;

export interface DebianPackage {
  readonly name: string;
  /** Also fetches the dependencies that this machine lacks. */
  readonly withDependencies?: boolean;
  /** Called before the download, which takes a while. */
  readonly log?: (line: string) => void;
}

/**
 * Fetches and unpacks one of Debian's packages into `node_modules`, without installing it.
 * @returns the folder that stands for `/` @throws Error with one line, if there is no apt-get or it fails
 */
export async function debianPackage(wanted: DebianPackage): Promise<string> {
  const unpacked = join(CACHE, wanted.name);
  if (existsSync(unpacked)) return unpacked;
  if (!existsSync('/etc/debian_version')) throw new Error(`${wanted.name} is not on PATH`);
  wanted.log?.(
    `${wanted.name} is not on PATH: fetching Debian's package into node_modules/.cache (it is not installed)`,
  );
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(join(CACHE, 'fetching-'));
  try {
    await fetchInto(folder, wanted);
    await rename(join(folder, 'unpacked'), unpacked).catch((error: unknown) => {
      // Another process was faster.
      if (!existsSync(unpacked)) throw error;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return unpacked;
}

async function fetchInto(folder: string, wanted: DebianPackage): Promise<void> {
  const { name, withDependencies = false } = wanted;
  const args = ['-c', FETCH_SCRIPT, 'sh', folder, name, withDependencies ? 'all' : 'alone'];
  const { code, stderr } = await run('sh', args);
  if (code === 0) return;
  const lastWord = stderr.trim().split('\n').at(-1) ?? '';
  const lists =
    process.getuid?.() === 0 ? '' : '; where package lists are missing: sudo apt-get update';
  throw new Error(`${name} is not on PATH, and apt-get cannot fetch it (${lastWord}${lists})`);
}
