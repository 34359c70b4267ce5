import { isDeepStrictEqual } from 'node:util';
import { freezeDeep } from '../lib/deep-readonly.ts';
import type { Checked } from './check.ts';
import { type OperatorCandidate, settleClaims } from './claims.ts';
import type { CheckedFile } from './folder/checked-file.ts';
import type { FolderContent } from './folder/config-folder.ts';
import type { InForce, OperatorInForce } from './in-force.ts';
import { type Problem, problemIn } from './problems.ts';
import { checkDelivery, mergeDelivery } from './schema/delivery-schema.ts';
import { WALLET_TIMEOUT_MS } from './schema/operator-schema.ts';
import type { GatewayConfig, OperatorConfig, OperatorFile } from './schema/schema.ts';

export interface NextInForce {
  /** The next configuration in force; undefined at start-up without a valid `gateway.yaml`. */
  readonly next: InForce | undefined;
  readonly problems: readonly Problem[];
}

/**
 * The next configuration from the folder and the one in force. An invalid file leaves its last good version in
 * force; what is unchanged stays the same object.
 */
export function nextInForce(content: FolderContent, previous: InForce | undefined): NextInForce {
  const problems = content.gateway.ok ? [] : [...content.gateway.problems];
  problems.push(...content.problems);
  const gateway = content.gateway.ok
    ? keepIdentity(content.gateway.value, previous?.gateway)
    : previous?.gateway;
  const gatewayVariables = content.gateway.ok
    ? content.gateway.sources
    : previous?.gatewayVariables;
  if (gateway === undefined || gatewayVariables === undefined) {
    for (const file of content.operators?.values() ?? []) {
      if (!file.ok) problems.push(...file.problems);
    }
    return { next: undefined, problems };
  }

  const candidates = new Map<string, OperatorCandidate>();
  const files = content.operators ?? new Map<string, CheckedFile<OperatorFile>>();
  for (const [id, file] of files) {
    candidates.set(id, choose(file, gateway, previous?.operators.get(id), problems));
  }
  if (content.operators === undefined) {
    // A folder that cannot be listed removes no operator.
    for (const [id, before] of previous?.operators ?? []) {
      const chosen = standing(before, gateway);
      candidates.set(id, { file: '', chosen, fallback: chosen });
    }
  }
  const { ownSecrets } = content;
  const settled = settleClaims({ gateway, gatewayVariables, ownSecrets }, candidates);
  problems.push(...settled.problems);
  const { operators } = settled;
  const invalidOperators =
    content.operators === undefined
      ? (previous?.invalidOperators ?? new Set<string>())
      : new Set([...files.keys()].filter((id) => !operators.has(id)));
  return { next: { gateway, gatewayVariables, operators, invalidOperators }, problems };
}

/** The operator from its file, or else its last good version. Adds problems to `problems`. */
function choose(
  read: CheckedFile<OperatorFile>,
  gateway: GatewayConfig,
  before: OperatorInForce | undefined,
  problems: Problem[],
): OperatorCandidate {
  const { file } = read;
  const fallback = before && standing(before, gateway);
  if (!read.ok) {
    problems.push(...read.problems);
    return { file, chosen: fallback, fallback };
  }
  const completed = completeOperator(read.value, gateway);
  if (!completed.ok) {
    problems.push(...completed.problems.map((problem) => problemIn(file, problem)));
    return { file, chosen: fallback, fallback };
  }
  const config = keepIdentity(completed.value, before?.config);
  return { file, chosen: { source: read.value, config, variables: read.sources }, fallback };
}

/** Completes an operator's file with the gateway's settings; or returns what contradicts those. */
function completeOperator(file: OperatorFile, gateway: GatewayConfig): Checked<OperatorConfig> {
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

/** An operator's last good version, completed with the gateway's present settings if they are compatible. */
function standing(before: OperatorInForce, gateway: GatewayConfig): OperatorInForce {
  const { source, config } = before;
  const completed = completeOperator(source, gateway);
  return { ...before, config: completed.ok ? keepIdentity(completed.value, config) : config };
}

/** `before` if it equals `value`, otherwise `value`. */
function keepIdentity<T>(value: T, before: T | undefined): T {
  return before !== undefined && isDeepStrictEqual(value, before) ? before : value;
}
