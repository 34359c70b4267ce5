import { type JsonDocument, jsonString } from '../protocol/json.ts';

/** What a wallet gets in place of the service's own members. */
export interface WalletMembers {
  /** The operator's id of the player; undefined leaves `userId` as it is. */
  readonly operatorUser: string | undefined;
  /** Undefined takes a token out: the wallet could not make sense of ours. */
  readonly operatorToken: string | undefined;
  /** For a cashout: the token of the session that asked for it, which goes along whether or not this message has one. */
  readonly cashoutToken?: string | undefined;
  /** Dialect `alwaysSendToken`: the token also where the service sent none. Default: no. */
  readonly alwaysSendToken?: boolean;
  /** Dialect `stableRequestId`: the request that this one repeats, whose `requestId` (raw JSON) it carries. */
  readonly first?: { readonly inBody: string | undefined } | undefined;
}

/**
 * The service's message in the operator's terms: the player's id, and the operator's token where
 * the service sent one (docs/contract.md, Callbacks). Everything else keeps its exact text.
 */
export function walletBody(
  document: JsonDocument,
  { operatorUser, operatorToken, cashoutToken, alwaysSendToken = false, first }: WalletMembers,
): string {
  const changes: Record<string, string | undefined> = {};
  if (first !== undefined) changes.requestId = first.inBody;
  if (operatorUser !== undefined) changes.userId = jsonString(operatorUser);
  if (cashoutToken !== undefined) {
    changes.token = jsonString(cashoutToken);
  } else if (operatorToken !== undefined && carriesToken(document, alwaysSendToken)) {
    changes.token = jsonString(operatorToken);
  } else if (typeof document.value.token === 'string') {
    changes.token = undefined;
  }
  return document.replace(changes);
}

/** Whether the wallet gets a token: where the service sent one, or where its dialect always wants one. */
export function carriesToken(document: JsonDocument, alwaysSendToken: boolean): boolean {
  return alwaysSendToken || typeof document.value.token === 'string';
}
