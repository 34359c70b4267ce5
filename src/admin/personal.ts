import { type Caller, mayDo } from '../domain/caller.ts';
import { JsonError, jsonString, parseJsonObject } from '../protocol/json.ts';

/** Stands for what the caller may not read. */
const MASK = '***';

/**
 * Members of messages that tell nothing of a person (docs/protocol.md, Bet transaction; Bet callback
 * success response; Errors). Whatever is not listed here is taken for personal, so that a member
 * that the service or a wallet adds is hidden until somebody has thought about it.
 */
const IMPERSONAL = new Set([
  'amount',
  'bonusAmount',
  'bonusId',
  'bonusTemplateId',
  'boosterCoefficient',
  'code',
  'coefficient',
  'currency',
  'errorCode',
  'gameType',
  'metadata',
  'requestId',
  'resultType',
  'subPartnerId',
  'ticketType',
  'transactionId',
  'transactionTime',
  'type',
]);

/** A player's id or name, for callers who may read it; null stays null: nobody is known there. */
export function personalText<T extends string | null>(
  caller: Pick<Caller, 'role'>,
  text: T,
): T | typeof MASK {
  return text === null || mayDo(caller, 'personal') ? text : MASK;
}

/** `400 code 5: its own words`, as a refused attempt has them. */
const WALLETS_WORDS = /^(\d{3} code -?\d+): .*$/s;

/** Why an attempt failed. A wallet's own words may name its player; what the gateway says of it does not. */
export function errorText(caller: Pick<Caller, 'role'>, error: string | null): string | null {
  if (error === null || mayDo(caller, 'personal')) return error;
  return error.replace(WALLETS_WORDS, `$1: ${MASK}`);
}

/**
 * A message as JSON text, exact but for its token, because who reads this must not play in its
 * name, and for what the caller may not know of the player.
 */
export function messageText(caller: Pick<Caller, 'role'>, message: Buffer): string {
  try {
    const document = parseJsonObject(message);
    const isHidden = mayDo(caller, 'personal')
      ? (name: string) => name === 'token' && typeof document.value.token === 'string'
      : (name: string) => !IMPERSONAL.has(name);
    const hidden = Object.keys(document.value).filter(isHidden);
    if (hidden.length === 0) return document.text;
    return document.replace(Object.fromEntries(hidden.map((name) => [name, jsonString(MASK)])));
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return mayDo(caller, 'personal') ? `not shown: ${error.message}` : MASK;
  }
}

/** What a wallet sent, whole or not; only what can be read can be told apart. */
export function answerText(caller: Pick<Caller, 'role'>, body: string): string {
  return mayDo(caller, 'personal') ? body : messageText(caller, Buffer.from(body));
}
