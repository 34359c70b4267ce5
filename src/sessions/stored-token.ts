import type { SessionRow } from '../store/sessions/session-rows.ts';
import type { Binding, Opened, TokenVault } from './token-vault.ts';

/** An operator token as stored in a session's row, with the hash it is bound to. */
export interface StoredToken {
  readonly sealed: Buffer;
  /** Hash of the session's own token, which never changes and is unique. */
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

/** The columns of a session from which its own token can be recovered. */
export type OwnTokenRow = Pick<
  SessionRow,
  'token' | 'sealed_token' | 'token_hash' | 'operator_id' | 'player_id' | 'currency' | 'ordinal'
>;

/** The token that the operator was given for a session; undefined if it cannot be recovered. */
export function ownTokenOf(
  vault: TokenVault,
  row: OwnTokenRow,
  operatorToken: string,
): string | undefined {
  const kept = keptTokenOf(vault, row);
  // Somebody with write access to the table could put another token there, but its hash would not match.
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
