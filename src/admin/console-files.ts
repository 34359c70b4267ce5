import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

export interface ConsoleFile {
  readonly content: Buffer;
  readonly contentType: string;
}

/** By its path inside the folder, with `/`; empty where nothing was built. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

/** Whatever else lies there is not served. */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * All files of the console, in memory: less than a megabyte, and no request reaches the disk.
 * @throws Error where the folder is there and cannot be read
 */
export function readConsoleFiles(folder: string): ConsoleFiles {
  return new Map(
    namesIn(folder).flatMap((name): (readonly [string, ConsoleFile])[] => {
      const contentType = CONTENT_TYPES[extname(name)];
      if (contentType === undefined) return [];
      return [[name, { content: readFileSync(join(folder, name)), contentType }]];
    }),
  );
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
