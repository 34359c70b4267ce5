import { type JsonDocument, jsonObjectIn } from '../../protocol/json.ts';

/**
 * The freebet that a bet was placed with, in the service's terms (service protocol, Bet
 * transaction).
 */
export interface Freebet {
  /** A number or, where a double cannot hold it, its text. */
  readonly bonusId: number | string | null;
  readonly bonusTemplateId: number | string | null;
  /** Exact text, as `amount`. */
  readonly bonusAmount: string | null;
}

export const NO_FREEBET: Freebet = { bonusId: null, bonusTemplateId: null, bonusAmount: null };

/** The freebet in a stored message; all null if there is none. */
export function freebetOf(message: Buffer): Freebet {
  const document = jsonObjectIn(message);
  if (document === undefined) return NO_FREEBET;
  return {
    bonusId: idOf(document, 'bonusId'),
    bonusTemplateId: idOf(document, 'bonusTemplateId'),
    bonusAmount: document.numberText('bonusAmount') ?? null,
  };
}

function idOf(document: JsonDocument, name: string): number | string | null {
  const text = document.numberText(name);
  if (text === undefined) return null;
  return Number.isSafeInteger(Number(text)) ? Number(text) : text;
}
