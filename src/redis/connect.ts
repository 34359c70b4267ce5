import { Redis, type RedisOptions } from 'ioredis';
import { GatewayError } from '../domain/errors.ts';

const SENTINEL_PORT = 26_379;

/** Without what would change the types of answers. */
export type ConnectionOptions = Omit<RedisOptions, 'replyMapping'>;

/**
 * Opens a connection to Redis, or through Sentinels to the master that they know at the time. Both
 * reconnect by themselves; a failover breaks the connections to the old master.
 *
 * @param url `redis://[:password@]host:6379[/database]` (`rediss:` for TLS), or
 *   `redis+sentinel://[:password@]sentinel-1:26379/master[/database]?sentinel=sentinel-2:26379`,
 *   with further `sentinel` and, where the Sentinels themselves have one, `sentinelPassword`
 * @throws GatewayError `CANNOT_START` when a Sentinel URL names no master
 */
export function connectRedis(url: string, options: ConnectionOptions): Redis {
  const parsed = new URL(url);
  const isSentinel = /^rediss?\+sentinel:$/.test(parsed.protocol);
  return isSentinel
    ? new Redis({ ...options, ...sentinelOptions(parsed) })
    : new Redis(url, options);
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
    sentinels: [url.host, ...url.searchParams.getAll('sentinel')].map(address),
    name: decodeURIComponent(name),
    db: Number(database) || 0,
    ...(url.username === '' ? {} : { username: decodeURIComponent(url.username) }),
    ...(url.password === '' ? {} : { password: decodeURIComponent(url.password) }),
    ...(sentinelPassword === null ? {} : { sentinelPassword }),
    ...(url.protocol.startsWith('rediss') ? { tls: {}, enableTLSForSentinelMode: true } : {}),
  };
}

function address(host: string): { host: string; port: number } {
  const { hostname, port } = new URL(`redis://${host}`);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || SENTINEL_PORT };
}
