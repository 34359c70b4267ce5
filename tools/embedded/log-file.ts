import { join } from 'node:path';

/** Where the supervisor lets a server print to, and where its starter reads why it failed. */
export function logFileIn(folder: string): string {
  return join(folder, 'server.log');
}
