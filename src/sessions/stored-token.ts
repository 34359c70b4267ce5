import type { SessionRow } from '../store/sessions/session-rows.ts';
import type { Binding, Opened, TokenVault } from './token-vault.ts';

/** An operator's token as a session's row holds it, with what it is bound to. */
export interface StoredToken {
  readonly sealed: Buffer;
  /** Of the session's own token: it never changes, and no other session has it. */
  readonly tokenHash: Buffer;
}

export function sealOperatorToken(
  vault: TokenVault,
  operatorToken: string,
  tokenHash: Buffer,
): Buffer {
  return vault.seal(operatorToken, operatorBinding(tokenHash));
}

export function operatorTokenOf(vault: TokenVault, { sealed, tokenHash }: StoredToken): Opened {
  return vault.open(sealed, operatorBinding(tokenHash));
}

export function sealOwnToken(vault: TokenVault, token: string, tokenHash: Buffer): Buffer {
  return vault.seal(token, ownBinding(tokenHash));
}

/** What of a session's row leads to its own token. */
export type OwnTokenRow = Pick<
  SessionRow,
  'token' | 'sealed_token' | 'token_hash' | 'operator_id' | 'player_id' | 'currency' | 'ordinal'
>;

/** The token that the operator was given for a session; undefined where it cannot be given again. */
export function ownTokenOf(
  vault: TokenVault,
  row: OwnTokenRow,
  operatorToken: string,
): string | undefined {
  const kept = keptTokenOf(vault, row);
  // Whoever can write to the table could put another's token there; its hash would not fit.
  if (kept !== undefined) return vault.hash(kept).equals(row.token_hash) ? kept : undefined;
  return vault.remake(identityOf(row, operatorToken), row.token_hash);
}

export function identityOf(row: OwnTokenRow, operatorToken: string) {
  return {
    operatorId: row.operator_id,
    playerId: row.player_id,
    currency: row.currency,
    operatorToken,
    ordinal: row.ordinal,
  };
}

function keptTokenOf(vault: TokenVault, row: OwnTokenRow): string | undefined {
  if (row.token !== undefined) return row.token;
  if (row.sealed_token === undefined) return undefined;
  const opened = vault.open(row.sealed_token, ownBinding(row.token_hash));
  return opened.kind === 'opened' ? opened.text : undefined;
}

function operatorBinding(tokenHash: Buffer): Binding {
  return ['operator token', tokenHash.toString('base64url')];
}

function ownBinding(tokenHash: Buffer): Binding {
  return ['own token', tokenHash.toString('base64url')];
}
