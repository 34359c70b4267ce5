import type { Checked } from './check.ts';
import { freezeDeep } from './freeze.ts';
import { checkDelivery, mergeDelivery } from './schema/delivery-schema.ts';
import { WALLET_TIMEOUT_MS } from './schema/operator-schema.ts';
import type { GatewayConfig, OperatorConfig, OperatorFile } from './schema/schema.ts';

/**
 * Completes an operator's file with the gateway's settings.
 *
 * @returns the operator, or the settings in its file that contradict the gateway's
 */
export function completeOperator(
  file: OperatorFile,
  gateway: GatewayConfig,
): Checked<OperatorConfig> {
  const { totalMs } = gateway.deadline;
  const { delivery: ownDelivery, wallet, ...rest } = file;
  // Never above what the deadline leaves (docs/reference.md, Configuration), whether it was written or not.
  const timeoutMs = Math.min(wallet.timeoutMs ?? WALLET_TIMEOUT_MS, totalMs);
  const delivery = mergeDelivery(gateway.delivery, ownDelivery);

  const problems = checkDelivery(delivery).map(({ path, reason }) => ({
    path: ['delivery', ...path],
    reason,
  }));
  if (problems.length > 0) return { ok: false, problems };
  const config: OperatorConfig = { ...rest, wallet: { ...wallet, timeoutMs }, delivery };
  return { ok: true, value: freezeDeep(config) };
}
