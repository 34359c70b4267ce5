import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { run, runOrFail } from '../lib/command.ts';

const ROOT = resolve(import.meta.dirname, '../..');
export const BASE = 'docker.io/library/node:24-slim';
/** A registry that does not answer within this time counts as unavailable. */
const PULL_MS = 20_000;

/** A store of our own for images and containers, separate from the machine's. */
export class Store {
  readonly #options: readonly string[];
  readonly #folder: string;

  /** @param driver `overlay` if the kernel allows it; `vfs` copies everything for every layer */
  constructor(folder: string, driver: 'overlay' | 'vfs') {
    this.#folder = folder;
    this.#options = [
      `--storage-driver=${driver}`,
      `--root=${join(folder, 'images')}`,
      `--runroot=${join(folder, 'run')}`,
    ];
  }

  async buildah(...args: readonly string[]): Promise<string> {
    return (await runOrFail('buildah', [...this.#options, ...args])).trim();
  }

  /** Releases everything, so that the folder can be removed. */
  async close(): Promise<void> {
    await this.buildah('rm', '--all');
    // The driver mounts its own folder; if it did not, there is nothing to undo.
    await run('umount', [join(this.#folder, 'images/overlay')]);
  }

  /** @returns whether a registry had the base image */
  async pullBase(): Promise<boolean> {
    const args = [...this.#options, 'pull', BASE];
    return (await run('buildah', args, { timeoutMs: PULL_MS })).code === 0;
  }
}

/** Whether this kernel can mount an overlay in a folder. */
export async function hasOverlay(folder: string): Promise<boolean> {
  const script = `cd "$1" && mkdir -p overlay/lower overlay/upper overlay/work overlay/all &&
    mount -t overlay overlay -o lowerdir=overlay/lower,upperdir=overlay/upper,workdir=overlay/work overlay/all &&
    umount overlay/all`;
  return (await run('sh', ['-c', script, 'sh', folder])).code === 0;
}

/** Copies the sources as somebody with a strict umask has them, without ignored files. */
export async function checkOut(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const script = `umask 027 && git ls-files -z --cached --others --exclude-standard --deduplicate |
    while IFS= read -r -d '' file; do [ -e "$file" ] && printf '%s\\0' "$file"; done |
    tar -c --null -T - | tar -x --no-same-permissions -C "$1"`;
  await runOrFail('bash', ['-c', script, 'bash', folder], { cwd: ROOT });
}

export interface Built {
  readonly name: string;
  readonly layers: readonly string[];
  readonly bytes: number;
}

/** Builds the Dockerfile in a folder. */
export async function build(store: Store, folder: string, version: string): Promise<Built> {
  const name = `localhost/wagergate:${version}`;
  await store.buildah(
    'bud',
    '--isolation=chroot',
    '--network=host',
    '--format=docker',
    '--layers',
    '--timestamp=0',
    ...volumesOfThisMachine(),
    `--build-arg=VERSION=${version}`,
    `--tag=${name}`,
    folder,
  );
  return { name, ...(await describe(store, name)) };
}

/** How this machine reaches the package registry: its certificate authorities and npm's settings. */
function volumesOfThisMachine(): string[] {
  const files = [
    ['/etc/ssl/certs', '/etc/ssl/certs'],
    [join(homedir(), '.npmrc'), '/root/.npmrc'],
    ['/usr/etc/npmrc', '/usr/local/etc/npmrc'],
  ] as const;
  return files
    .filter(([file]) => existsSync(file))
    .map(([file, target]) => `--volume=${file}:${target}:ro`);
}

async function describe(store: Store, name: string): Promise<Pick<Built, 'layers' | 'bytes'>> {
  const image: unknown = JSON.parse(await store.buildah('inspect', '--type=image', name));
  const layers = at(image, 'OCIv1', 'rootfs', 'diff_ids');
  const manifest: unknown = JSON.parse(String(at(image, 'Manifest')));
  const parts = at(manifest, 'layers');
  if (!Array.isArray(layers) || !Array.isArray(parts)) throw new Error(`${name} has no layers`);
  const bytes = parts.reduce((sum: number, part: unknown) => sum + Number(at(part, 'size')), 0);
  return { layers: layers.map(String), bytes };
}

/** The value at a path of members; undefined if there is none. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const name of path) {
    found = typeof found === 'object' && found !== null ? Reflect.get(found, name) : undefined;
  }
  return found;
}

/** A replacement for the base image without a registry: Debian's smallest, with the installed Node and npm. */
export async function makeStandIn(store: Store, folder: string): Promise<void> {
  const root = join(folder, 'debian');
  await rm(root, { recursive: true, force: true });
  await runOrFail('debootstrap', ['--variant=minbase', 'bookworm', root]);
  const npm = process.env.npm_execpath ?? '/usr/lib/node_modules/npm/bin/npm-cli.js';
  // As in Debian's slim images.
  const script = `
    rm -rf "$1"/var/cache/apt/* "$1"/var/lib/apt/lists/* "$1"/usr/share/man/* "$1"/usr/share/locale/*
    find "$1/usr/share/doc" -type f ! -name copyright -delete
    mkdir -p "$1/usr/local/lib/node_modules" "$1/usr/local/bin" "$1/usr/local/etc"
    cp -L "$2" "$1/usr/local/bin/node"
    cp -rL "$3" "$1/usr/local/lib/node_modules/npm"
    ln -s ../lib/node_modules/npm/bin/npm-cli.js "$1/usr/local/bin/npm"`;
  const node = join(ROOT, 'node_modules/node/bin/node');
  await runOrFail('sh', ['-ec', script, 'sh', root, node, dirname(dirname(npm))]);
  const container = await store.buildah('from', 'scratch');
  const mount = await store.buildah('mount', container);
  await runOrFail('cp', ['-a', `${root}/.`, mount]);
  await store.buildah(
    'config',
    '--env=PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    container,
  );
  await store.buildah('commit', '--quiet', '--rm', container, BASE);
  await rm(root, { recursive: true, force: true });
}
