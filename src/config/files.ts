import { readdirSync, readFileSync, statSync } from 'node:fs';

/** Many times what anybody writes; reading happens on the thread that answers callbacks. */
const FILE_BYTES_MAX = 64 * 1024;

export type FileText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: string };

export type FolderListing =
  | { readonly ok: true; readonly names: readonly string[] }
  | { readonly ok: false; readonly reason: string };

interface Seen {
  /** What `look` gave when the path was read. */
  readonly before: string;
  readonly look: () => string;
}

/**
 * Reads files and remembers the identity of each at the moment it was read, so that a change made
 * at any time after that, also before anybody watches, is seen by `changes`.
 */
export class FileReader {
  readonly #seen = new Map<string, Seen>();

  /** The wanted names in a folder, sorted; or why it cannot be listed. */
  list(folder: string, wanted: (name: string) => boolean): FolderListing {
    this.#remember(folder, () => listingIdentity(listFolder(folder, wanted)));
    return listFolder(folder, wanted);
  }

  /**
   * The UTF-8 text of a regular file of at most 64 KiB; or why it cannot be read.
   * @param realPath where the path was seen to lead, so that no link is followed a second time
   */
  read(path: string, realPath = path): FileText {
    this.watch(path);
    const read = readText(realPath);
    if (!read.ok) this.#retry(path, realPath);
    return read;
  }

  /** What could not be read may become readable and stay the same file: the process had no file left to open, say. */
  #retry(path: string, realPath: string): void {
    this.#remember(path, () => {
      const read = readText(realPath);
      return `${fileIdentity(path)} ${read.ok ? 'can be read' : read.reason}`;
    });
  }

  /** Has `changes` tell when this path becomes another file, without reading it. */
  watch(path: string): void {
    this.#remember(path, () => fileIdentity(path));
  }

  /** Forgets what was read, before everything is read afresh. */
  forget(): void {
    this.#seen.clear();
  }

  /**
   * What is different now from what was read: empty when nothing is. Two equal answers in a row
   * mean that nobody is writing at the moment. One path a step, so that a caller may let other work go
   * between: of a thousand operators and their secrets this is a few thousand files, several times a second.
   */
  *changes(): Generator<undefined, string> {
    const changes: string[] = [];
    // As it was: what is read afresh meanwhile is compared at the next look.
    for (const [path, { before, look }] of [...this.#seen]) {
      yield;
      const now = look();
      if (now !== before) changes.push(`${path} ${now}`);
    }
    return changes.join('\n');
  }

  /** Called before reading: what changes in between is then seen as a change, not missed. */
  #remember(path: string, look: () => string): void {
    this.#seen.set(path, { before: look(), look });
  }
}

function listFolder(folder: string, wanted: (name: string) => boolean): FolderListing {
  try {
    return { ok: true, names: readdirSync(folder).filter(wanted).sort() };
  } catch (error) {
    return { ok: false, reason: cannotBeRead(error) };
  }
}

function listingIdentity(listing: FolderListing): string {
  return listing.ok ? listing.names.join('/') : listing.reason;
}

/**
 * Tells one content of a path from the next: a ConfigMap swaps the symlink and editors rename (another
 * inode) or write in place (times, size); a file made readable shows in its change time.
 */
function fileIdentity(path: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
  } catch (error) {
    return cannotBeRead(error);
  }
}

function readText(path: string): FileText {
  try {
    const stats = statSync(path);
    // A pipe or device would block the process that is answering callbacks.
    if (!stats.isFile()) return { ok: false, reason: 'is not a regular file' };
    if (stats.size > FILE_BYTES_MAX) return { ok: false, reason: 'is larger than 64 KiB' };
    const bytes = readFileSync(path);
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    return { ok: false, reason: cannotBeRead(error) };
  }
}

function cannotBeRead(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  const why: Record<string, string> = {
    ENOENT: 'does not exist',
    ENOTDIR: 'does not exist',
    EACCES: 'cannot be read: permission denied',
    ERR_ENCODING_INVALID_ENCODED_DATA: 'is not UTF-8 text',
  };
  return why[code] ?? `cannot be read: ${code}`;
}
