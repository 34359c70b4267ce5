import type { Configuration } from '../config/schema.ts';

/**
 * `<operator id>.<operator token>` of an operator with prefixed sessions (docs/contract.md,
 * Operator API).
 * @returns undefined for any other token
 */
export function prefixOf(
  configuration: Configuration,
  token: string,
): { readonly operatorId: string; readonly operatorToken: string } | undefined {
  const dot = token.indexOf('.');
  if (dot < 1 || token.length > 64 || dot === token.length - 1) return undefined;
  const operatorId = token.slice(0, dot);
  const operator = configuration.operators.get(operatorId);
  if (operator?.sessions.mode !== 'prefixed') return undefined;
  return { operatorId, operatorToken: token.slice(dot + 1) };
}
