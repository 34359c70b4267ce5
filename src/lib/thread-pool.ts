/** An idle thread costs next to nothing. */
const THREADS = 32;

/**
 * Resolver options, as in `resolv.conf`: each name server is asked twice, for 2 s each time. The default of 5 s is
 * more than a wallet has for a connection, and no process exits before its last query has ended.
 */
const RESOLVER_OPTIONS = 'timeout:2 attempts:2';

/**
 * Gives this process, and the workers it starts, enough threads for blocking system calls. Half of the threads may
 * resolve names, each until a name server answers or times out after seconds: with Node's four threads, two
 * operators with dead name servers would block both, and no new connection to anybody could be made.
 * Also shortens the time-out for silent name servers. Call it before any thread is used.
 * @param env of this process; existing `UV_THREADPOOL_SIZE` and `RES_OPTIONS` take precedence
 */
export function prepareForSlowNames(env: NodeJS.ProcessEnv): void {
  env.UV_THREADPOOL_SIZE ??= String(THREADS);
  env.RES_OPTIONS ??= RESOLVER_OPTIONS;
}
