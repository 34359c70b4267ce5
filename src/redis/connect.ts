import { isIP } from 'node:net';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { GatewayError } from '../domain/errors.ts';

const SENTINEL_PORT = 26_379;
const REDIS_PORT = 6_379;
/** A Sentinel that accepts a connection but does not answer is skipped for the next one. */
const SENTINEL_ANSWER_MS = 2_000;

/** Without the option that would change the types of answers; when to make pipelines is decided here. */
export interface ConnectionOptions
  extends Omit<RedisOptions, 'replyMapping' | 'enableAutoPipelining'> {
  /** Whether the commands of one turn of the event loop go to a node of a Redis Cluster together. */
  readonly pipelinesInCluster?: boolean;
}

export type RedisConnection = Redis | Cluster;

/** A master that becomes a replica closes no connection; reconnecting finds the new one. */
const reconnectOnError = ({ message }: Error) => message.includes('READONLY');

/**
 * Opens a connection to Redis, Sentinels' current master or a Redis Cluster, which reconnects by itself.
 * @param url `redis://[:password@]host:6379[/database]` (`rediss:` for TLS), or
 *   `redis+sentinel://[:password@]sentinel-1:26379/master[/database]?sentinel=sentinel-2:26379`, perhaps with
 *   `sentinelPassword`, or `redis+cluster://[:password@]node-1:6379?node=node-2:6379`
 * @throws GatewayError `CANNOT_START` for a URL without a master, with an impossible database, or unreadable
 */
export function connectRedis(url: string, given: ConnectionOptions): RedisConnection {
  const { pipelinesInCluster = false, ...rest } = given;
  const options = { reconnectOnError, ...rest };
  const parsed = new URL(url);
  refuseStrayPercent(parsed);
  switch (parsed.protocol) {
    case 'redis+sentinel:':
    case 'rediss+sentinel:':
      return new Redis({ ...options, ...sentinelOptions(parsed) });
    case 'redis+cluster:':
    case 'rediss+cluster:':
      return connectCluster(parsed, options, pipelinesInCluster);
    default:
      return new Redis(url, {
        ...options,
        ...namedTls(parsed),
        db: databaseOf(parsed.pathname.slice(1)),
      });
  }
}

/** Many servers may share one address, and TLS then asks for the one that is meant; an address cannot be asked for. */
function namedTls({ protocol, hostname }: URL): Pick<RedisOptions, 'tls'> {
  const isNamed = protocol === 'rediss:' && isIP(withoutBrackets(hostname)) === 0;
  return isNamed ? { tls: { servername: hostname } } : {};
}

function connectCluster(
  url: URL,
  options: Omit<ConnectionOptions, 'pipelinesInCluster'>,
  enableAutoPipelining: boolean,
): Cluster {
  const { keyPrefix, enableOfflineQueue, ...ofNode } = options;
  const database = databaseOf(url.pathname.slice(1));
  if (database !== 0) {
    throw new GatewayError(
      'CANNOT_START',
      `REDIS_URL names database ${database}, and a Redis Cluster has no other than 0`,
    );
  }
  const nodes = [url.host, ...url.searchParams.getAll('node')];
  const isSecure = url.protocol.startsWith('rediss');
  return new Cluster(
    nodes.map((node) => address(node, REDIS_PORT)),
    {
      ...(keyPrefix === undefined ? {} : { keyPrefix }),
      enableAutoPipelining,
      ...(enableOfflineQueue === undefined ? {} : { enableOfflineQueue }),
      clusterRetryStrategy: (times) => Math.min(times * 100, 2_000),
      redisOptions: {
        ...ofNode,
        ...credentials(url),
        ...(isSecure ? { tls: {} } : {}),
      },
      // ioredis would resolve the names, and a certificate is for a name.
      ...(isSecure ? { dnsLookup: (name, found) => found(null, name) } : {}),
    },
  );
}

function sentinelOptions(url: URL): ConnectionOptions {
  const [, name = '', database = ''] = url.pathname.split('/');
  if (name === '') {
    throw new GatewayError(
      'CANNOT_START',
      'REDIS_URL names no master: redis+sentinel://sentinel-1:26379/<master>?sentinel=sentinel-2:26379',
    );
  }
  const sentinelPassword = url.searchParams.get('sentinelPassword');
  return {
    sentinels: [url.host, ...url.searchParams.getAll('sentinel')].map((host) =>
      address(host, SENTINEL_PORT),
    ),
    name: decodeURIComponent(name),
    sentinelCommandTimeout: SENTINEL_ANSWER_MS,
    db: databaseOf(database),
    ...credentials(url),
    ...(sentinelPassword === null ? {} : { sentinelPassword }),
    ...(url.protocol.startsWith('rediss')
      ? { tls: {}, enableTLSForSentinelMode: true, sentinelTLS: {} }
      : {}),
  };
}

function databaseOf(text: string): number {
  if (/^\d*$/.test(text)) return Number(text);
  // Never quote the text: it is the rest of a password whose / is not encoded.
  if (text.includes('@')) {
    throw new GatewayError(
      'CANNOT_START',
      'REDIS_URL has an @ behind its host: in a password write / as %2F, ? as %3F, # as %23',
    );
  }
  throw new GatewayError(
    'CANNOT_START',
    `REDIS_URL ends in ${JSON.stringify(text)}, where the number of a database stands, such as redis://host:6379/1`,
  );
}

/** Generated passwords contain any character; ioredis would only say that a URI is malformed. */
function refuseStrayPercent({ username, password, pathname }: URL): void {
  try {
    for (const part of [username, password, pathname]) decodeURIComponent(part);
  } catch (error) {
    throw new GatewayError(
      'CANNOT_START',
      'REDIS_URL holds a % that stands for no character, in its user, password or path: write %25 for a % itself',
      { cause: error },
    );
  }
}

function credentials(url: URL): Pick<RedisOptions, 'username' | 'password'> {
  return {
    ...(url.username === '' ? {} : { username: decodeURIComponent(url.username) }),
    ...(url.password === '' ? {} : { password: decodeURIComponent(url.password) }),
  };
}

function address(host: string, defaultPort: number): { host: string; port: number } {
  if (!URL.canParse(`redis://${host}`)) {
    // The text before an @ is a password, which is not needed for a further node and must not be quoted.
    const named = host.includes('@') ? 'something with an @' : JSON.stringify(host);
    throw new GatewayError(
      'CANNOT_START',
      `REDIS_URL names ${named}, where a host and its port stand, such as node-2:6379`,
    );
  }
  const { hostname, port } = new URL(`redis://${host}`);
  return { host: withoutBrackets(hostname), port: Number(port) || defaultPort };
}

/** An address of IPv6 stands in brackets in a URL. */
function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}
