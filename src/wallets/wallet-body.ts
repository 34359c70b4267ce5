import { type JsonDocument, jsonString } from '../protocol/json.ts';

/** The values that replace members of the service's message for the wallet. */
export interface WalletMembers {
  /** The operator's id of the player; undefined leaves `userId` as it is. */
  readonly operatorUser: string | undefined;
  /** Undefined removes the token, because the wallet does not know ours. */
  readonly operatorToken: string | undefined;
  /** For a cashout: the token of the session that requested it, sent even if this message has none. */
  readonly cashoutToken?: string | undefined;
  /** Dialect `alwaysSendToken`: sends the token even if the service sent none. Default: no. */
  readonly alwaysSendToken?: boolean;
  /** Dialect `stableRequestId`: the request that this one repeats, whose `requestId` (raw JSON) it carries. */
  readonly first?: { readonly inBody: string | undefined } | undefined;
  /** Other members to replace, as raw JSON; undefined removes one. */
  readonly replaced?: Readonly<Record<string, string | undefined>>;
}

/** The service's message with the operator's player id and token; all else keeps its exact text. */
export function walletBody(
  document: JsonDocument,
  {
    operatorUser,
    operatorToken,
    cashoutToken,
    alwaysSendToken = false,
    first,
    replaced,
  }: WalletMembers,
): string {
  const changes: Record<string, string | undefined> = {};
  if (first !== undefined) changes.requestId = first.inBody;
  Object.assign(changes, replaced);
  if (operatorUser !== undefined) changes.userId = jsonString(operatorUser);
  if (cashoutToken !== undefined) {
    changes.token = jsonString(cashoutToken);
  } else if (operatorToken !== undefined && carriesToken(document, alwaysSendToken)) {
    changes.token = jsonString(operatorToken);
  } else if (hasToken(document)) {
    changes.token = undefined;
  }
  return document.replace(changes);
}

/** Whether the wallet gets a token: if the service sent one, however odd, or the dialect always wants one. */
export function carriesToken(document: JsonDocument, alwaysSendToken: boolean): boolean {
  return alwaysSendToken || hasToken(document);
}

function hasToken({ value }: JsonDocument): boolean {
  return value.token !== undefined && value.token !== null;
}
