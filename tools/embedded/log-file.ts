import { join } from 'node:path';

/** The file to which the supervisor sends a server's output, and from which its starter reads why it failed. */
export function logFileIn(folder: string): string {
  return join(folder, 'server.log');
}
