import { type JsonDocument, jsonString } from '../protocol/json.ts';

/**
 * The service's message in the operator's terms: the player's id, and the operator's token where
 * the service sent one (docs/contract.md, Callbacks). Every other byte that means something stays.
 *
 * @param operatorToken undefined takes a token out: the wallet could not make sense of ours
 * @param alwaysSendToken a dialect: the token also where the service sent none
 * @param first a dialect: the request that this one repeats, whose `requestId` (raw JSON) it carries
 */
export function walletBody(
  document: JsonDocument,
  operatorUser: string | undefined,
  operatorToken: string | undefined,
  alwaysSendToken = false,
  first?: { readonly inBody: string | undefined },
): string {
  const changes: Record<string, string | undefined> = {};
  if (first !== undefined) changes.requestId = first.inBody;
  if (operatorUser !== undefined) changes.userId = jsonString(operatorUser);
  if (operatorToken !== undefined && carriesToken(document, alwaysSendToken)) {
    changes.token = jsonString(operatorToken);
  } else if (typeof document.value.token === 'string') {
    changes.token = undefined;
  }
  return document.replace(changes);
}

/** Whether the wallet is to get a token: where the service sent one, and where its dialect wants it always. */
export function carriesToken(document: JsonDocument, alwaysSendToken: boolean): boolean {
  return alwaysSendToken || typeof document.value.token === 'string';
}
