import { readdirSync, readFileSync, statSync } from 'node:fs';
import { fileFault } from '../../lib/faults.ts';

/** Far more than anybody writes; limited, because files are read on the thread that answers callbacks. */
const FILE_BYTES_MAX = 64 * 1024;

export type FileText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: string };

export type FolderListing =
  | { readonly ok: true; readonly names: readonly string[] }
  | { readonly ok: false; readonly reason: string };

interface Seen {
  /** What `identify` returned when the path was read. */
  readonly before: string;
  readonly identify: () => string;
  /** The path could not be read, and `identify` tries it too. */
  readonly isRetried?: true;
}

/** Reads files and remembers the identity of each, so that `changes` sees every later change. */
export class FileReader {
  readonly #seen = new Map<string, Seen>();

  /** The wanted names in a folder, sorted; or why it cannot be listed. */
  list(folder: string, wanted: (name: string) => boolean): FolderListing {
    this.#remember(folder, () => listingIdentity(listFolder(folder, wanted)));
    return listFolder(folder, wanted);
  }

  /** The text of a regular file of at most 64 KiB, or why it cannot be read. @param realPath the resolved path */
  read(path: string, realPath = path): FileText {
    const seen = this.watch(path);
    const read = readText(realPath);
    if (!read.ok && seen.isRetried !== true) this.#retry(path, realPath, seen, read.reason);
    return read;
  }

  /** An unreadable file may become readable without changing, for example once the process can open files again. */
  #retry(path: string, realPath: string, { before }: Seen, reason: string): void {
    const identify = () => {
      const read = readText(realPath);
      return `${fileIdentity(path)} ${read.ok ? 'can be read' : read.reason}`;
    };
    this.#seen.set(path, { before: `${before} ${reason}`, identify, isRetried: true });
  }

  /** Makes `changes` report when this path becomes another file. Call it before following a link. */
  watch(path: string): Seen {
    return this.#seen.get(path) ?? this.#remember(path, () => fileIdentity(path));
  }

  /** Forgets what was read, before everything is read afresh. */
  forget(): void {
    this.#seen.clear();
  }

  /**
   * What has changed since it was read. Two equal results in a row mean that nobody is writing.
   * One path per step, so that the caller can yield to other work.
   */
  *changes(): Generator<undefined, string> {
    const changes: string[] = [];
    // A copy: files read again meanwhile are compared next time.
    for (const [path, { before, identify }] of [...this.#seen]) {
      yield;
      const now = identify();
      if (now !== before) changes.push(`${path} ${now}`);
    }
    return changes.join('\n');
  }

  /** Called before reading, so that a change made in between is noticed rather than missed. */
  #remember(path: string, identify: () => string): Seen {
    const seen = { before: identify(), identify };
    this.#seen.set(path, seen);
    return seen;
  }
}

function listFolder(folder: string, wanted: (name: string) => boolean): FolderListing {
  try {
    return { ok: true, names: readdirSync(folder).filter(wanted).sort() };
  } catch (error) {
    return { ok: false, reason: fileFault(error) };
  }
}

function listingIdentity(listing: FolderListing): string {
  return listing.ok ? listing.names.join('/') : listing.reason;
}

/** Changes whenever the content may have: another inode, times, size or permissions. */
function fileIdentity(path: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
  } catch (error) {
    return fileFault(error);
  }
}

function readText(path: string): FileText {
  try {
    const stats = statSync(path);
    // Reading a pipe or device could block the process that answers callbacks.
    if (!stats.isFile()) return { ok: false, reason: 'is not a regular file' };
    if (stats.size > FILE_BYTES_MAX) return { ok: false, reason: 'is larger than 64 KiB' };
    const bytes = readFileSync(path);
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    return { ok: false, reason: fileFault(error) };
  }
}
