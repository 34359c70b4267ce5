/** An idle thread costs next to nothing. */
const THREADS = 32;

/** Each name server is asked twice, for 2 s: the default of 5 s is more than a wallet has for a connection. */
const RESOLVER_OPTIONS = 'timeout:2 attempts:2';

/**
 * Enough threads for blocking system calls: half of them may resolve names, and dead name servers of two
 * operators would block Node's four. Also shortens the resolver's time-out. Call it before any thread is used.
 */
export function prepareForSlowNames(env: NodeJS.ProcessEnv): void {
  env.UV_THREADPOOL_SIZE ??= String(THREADS);
  env.RES_OPTIONS ??= RESOLVER_OPTIONS;
}
