import type { Configuration } from '../config/schema/schema.ts';

interface PrefixedToken {
  readonly operatorId: string;
  readonly operatorToken: string;
}

/** `<operator id>.<operator token>`, whatever is configured now; undefined for any other token. */
export function splitToken(token: string): PrefixedToken | undefined {
  const dot = token.indexOf('.');
  if (dot < 1 || token.length > 64 || dot === token.length - 1) return undefined;
  return { operatorId: token.slice(0, dot), operatorToken: token.slice(dot + 1) };
}

/**
 * A token of an operator with prefixed sessions (docs/reference.md, Operator API).
 * @returns undefined for any other token
 */
export function prefixOf(configuration: Configuration, token: string): PrefixedToken | undefined {
  const split = splitToken(token);
  const operator = split && configuration.operators.get(split.operatorId);
  return operator?.sessions.mode === 'prefixed' ? split : undefined;
}

/** The operator named by a token's prefix whose file is invalid, so that nobody knows whether its sessions are prefixed. */
export function invalidOperatorOf(
  { invalidOperators }: Configuration,
  token: string,
): string | undefined {
  const operatorId = splitToken(token)?.operatorId;
  return operatorId !== undefined && invalidOperators.has(operatorId) ? operatorId : undefined;
}
