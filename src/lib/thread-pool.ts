/** Node's own number, where nothing says otherwise. */
let threads = 4;
/** An idle thread costs next to nothing. */
const THREADS = 32;
/**
 * Of the system's name resolution, as in `resolv.conf`: each name server is asked twice, for 2 s each time. Its own 5 s
 * are more than a wallet has for a connection, and no process ends before its last question has ended.
 */
const RESOLVER_OPTIONS = 'timeout:2 attempts:2';
/** For the names of PostgreSQL, Redis and whoever else is not a wallet. */
const RESERVED = 4;

/**
 * Gives this process, and the workers it starts, enough threads for its system calls that block. Half of
 * them may resolve names, each until a name server has answered or has been silent for seconds: of Node's
 * four threads, two operators with dead name servers take both, and no new connection to anybody comes about.
 * Silent name servers are asked for a shorter time. To be called before any thread is used.
 * @param env of this process; its `UV_THREADPOOL_SIZE` and `RES_OPTIONS` stand above what is here
 */
export function prepareForSlowNames(env: NodeJS.ProcessEnv): void {
  env.UV_THREADPOOL_SIZE ??= String(THREADS);
  env.RES_OPTIONS ??= RESOLVER_OPTIONS;
  // What begins with no number is one thread for libuv.
  threads = Number.parseInt(env.UV_THREADPOOL_SIZE, 10) || 1;
}

/** How many names of wallets may be asked for at once, so that some threads are left for other names. */
export function namesAtOnce(): number {
  return Math.max(1, Math.floor((threads + 1) / 2) - RESERVED);
}
