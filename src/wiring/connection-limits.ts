import { BONUS_API_CONNECTIONS_MAX } from '../bonuses/service/client.ts';
import type { Configuration } from '../config/schema/schema.ts';
import { GatewayError } from '../domain/errors.ts';
import { callersThatFit, OWN_FILES } from '../http/callers-that-fit.ts';
import type { ConnectionLimits } from '../http/connections.ts';
import { openFilesMax } from '../http/descriptors.ts';
import type { Base } from './parts.ts';

/**
 * The limits for callers: as configured, but never more connections than the limit of open files
 * allows, because at that limit neither callers nor wallets get through (I7). The two are compared at
 * the start and at each reload.
 *
 * @throws GatewayError `CANNOT_START` if the limit of open files leaves none for callers
 */
export function connectionLimits({ source, logger, configuration }: Base): () => ConnectionLimits {
  const inForce = (current: Configuration): ConnectionLimits => {
    const { http } = current.gateway;
    const max = openFilesMax();
    const room = callersThatFit({ max, outward: outwardConnections(current) });
    if (http.maxConnections <= room) return http;
    const maxConnections = Math.max(1, room);
    const note = `the process may have ${max} files open: raise that (ulimit -n, LimitNOFILE=), or lower http.maxConnections or wallet.maxConcurrent`;
    logger.warn(
      { configured: http.maxConnections, maxConnections, openFilesMax: max, note },
      'http.connections_limited',
    );
    return { ...http, maxConnections };
  };
  if (callersThatFit({ max: openFilesMax(), outward: 0 }) < 1) {
    throw new GatewayError(
      'CANNOT_START',
      `the process may have ${openFilesMax()} files open, and the gateway needs ${OWN_FILES} for itself: raise the limit (ulimit -n, LimitNOFILE=)`,
    );
  }
  let limits = inForce(configuration());
  source.onChange((changed) => {
    limits = inForce(changed);
  });
  return () => limits;
}

/** The most connections to wallets and to the bonus API. */
function outwardConnections({ operators }: Configuration): number {
  return operators
    .values()
    .reduce(
      (sum, { wallet: { maxConcurrent } }) => sum + maxConcurrent.read + maxConcurrent.money,
      BONUS_API_CONNECTIONS_MAX,
    );
}
