import type { Checked } from './check.ts';
import { freezeDeep } from './freeze.ts';
import type { SettingProblem } from './problems.ts';
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
  const timeoutMs = wallet.timeoutMs ?? Math.min(WALLET_TIMEOUT_MS, totalMs);
  const delivery = mergeDelivery(gateway.delivery, ownDelivery);

  const problems: SettingProblem[] = checkDelivery(delivery).map(({ path, reason }) => ({
    path: ['delivery', ...path],
    reason,
  }));
  if (timeoutMs > totalMs) {
    const reason = `${timeoutMs} is above deadline.totalMs (${totalMs}) of gateway.yaml: lower it`;
    problems.push({ path: ['wallet', 'timeoutMs'], reason });
  }
  if (problems.length > 0) return { ok: false, problems };
  const config: OperatorConfig = { ...rest, wallet: { ...wallet, timeoutMs }, delivery };
  return { ok: true, value: freezeDeep(config) };
}
