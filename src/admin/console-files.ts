import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

export interface ConsoleFile {
  readonly content: Buffer;
  readonly contentType: string;
}

/** By path inside the folder, with `/`; empty if the console is not built. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

/** Files of other types are not served. */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Reads the console's files into memory. @throws Error if the folder exists but cannot be read */
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
