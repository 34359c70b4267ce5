import { checkMetadata, metadataWithoutOdd } from './coefficients.ts';
import {
  amount,
  checkOptionalInteger,
  checkOptionalNumber,
  checkOptionalString,
  IDENTIFIER,
  optionalCurrency,
  optionalText,
  requiredText,
} from './fields.ts';
import { type JsonDocument, JsonError } from './json.ts';

type Check = (document: JsonDocument, name: string) => unknown;

/** Members of a rollback or update that are not needed, as the protocol describes them. Others pass unread. */
const CHECKS: Readonly<Record<string, Check>> = {
  userId: (document, name) => requiredText(document, name, IDENTIFIER),
  amount,
  currency: optionalCurrency,
  token: optionalText,
  requestId: checkOptionalString,
  cid: checkOptionalString,
  transactionTime: checkOptionalString,
  coefficient: checkOptionalNumber,
  boosterCoefficient: checkOptionalNumber,
  bonusAmount: checkOptionalNumber,
  metadata: checkMetadata,
  gameType: checkOptionalString,
  ticketType: checkOptionalString,
  bonusId: checkOptionalInteger,
  bonusTemplateId: checkOptionalInteger,
  errorCode: checkOptionalInteger,
  info: checkOptionalString,
  ip: checkOptionalString,
};

/** Raw JSON by member; undefined: left out. */
export type Repairs = Readonly<Record<string, string | undefined>>;

/** What replaces the odd members of a rollback or update; empty for nearly every message. */
export function repairsOf(document: JsonDocument): Repairs {
  const odd = Object.entries(CHECKS).filter(
    ([name, check]) => document.has(name) && isOdd(document, name, check),
  );
  return Object.fromEntries(
    odd.map(([name]) => [name, name === 'metadata' ? metadataWithoutOdd(document) : undefined]),
  );
}

function isOdd(document: JsonDocument, name: string, check: Check): boolean {
  try {
    check(document, name);
    return false;
  } catch (error) {
    if (error instanceof JsonError) return true;
    throw error;
  }
}
