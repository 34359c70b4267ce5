import { z } from 'zod';
import { GatewayError } from '../../domain/errors.ts';
import { cidr } from '../schema/fields.ts';

const cidrs = z.array(cidr());

/**
 * The proxies in front of the internal listener (`ADMIN_TRUST_PROXY`): CIDRs, separated by commas.
 * @throws GatewayError `CANNOT_START` if one of them is no CIDR
 */
export function readTrustedProxies(env: NodeJS.ProcessEnv): readonly string[] {
  const given = (env.ADMIN_TRUST_PROXY ?? '').split(',').flatMap((one) => one.trim() || []);
  const { success } = cidrs.safeParse(given);
  if (success) return given;
  throw new GatewayError(
    'CANNOT_START',
    'ADMIN_TRUST_PROXY must be CIDRs separated by commas, such as 10.0.0.0/8, or 192.0.2.7/32 for one address',
  );
}
