import { hostname, userInfo } from 'node:os';
import type { Caller } from '../domain/caller.ts';
import type { Authority } from '../store/audit/audited.ts';

/** Who works at this command line, for the audit; whoever has the database's address may do all. */
function cliCaller(): Caller {
  return { actor: `cli:${userName()}`, role: 'admin', address: hostname() };
}

/** @param options of a command that takes `--reason` */
export function byOf({ reason }: { readonly reason?: string | undefined }): Authority {
  const words = reason?.trim();
  return { caller: cliCaller(), reason: words === '' ? undefined : words };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // In a container the user often has a number and no name.
    return String(process.getuid?.() ?? 'unknown');
  }
}
