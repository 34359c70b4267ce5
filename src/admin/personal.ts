import { type Caller, mayDo } from '../domain/caller.ts';
import { JsonError, jsonString, parseJsonObject } from '../protocol/json.ts';

/** Replaces what the caller may not read. */
const MASK = '***';

/** Members of messages that are not personal data (service protocol). Any other is hidden until listed here. */
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

/** A player's id or name if the caller may read it, else a mask. Null stays null: there is no player. */
export function personalText<T extends string | null>(
  caller: Pick<Caller, 'role'>,
  text: T,
): T | typeof MASK {
  return text === null || mayDo(caller, 'personal') ? text : MASK;
}

/** The error text of a refused attempt: `400 code 5: the wallet's words`. */
const WALLETS_WORDS = /^(\d{3} code -?\d+): .*$/s;

/** Why an attempt failed. The wallet's words are masked, because they may name the player; the gateway's do not. */
export function errorText(caller: Pick<Caller, 'role'>, error: string | null): string | null {
  if (error === null || mayDo(caller, 'personal')) return error;
  return error.replace(WALLETS_WORDS, `$1: ${MASK}`);
}

/** A message as exact JSON text, with its token, and what the caller may not know of the player, masked. */
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

/** A wallet's answer, possibly cut off. If it cannot be parsed, it is masked as a whole. */
export function answerText(caller: Pick<Caller, 'role'>, body: string): string {
  return mayDo(caller, 'personal') ? body : messageText(caller, Buffer.from(body));
}
