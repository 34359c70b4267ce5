/** An answer to a request: an HTTP status and a JSON body. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** `YYYY-MM-DD`, `hh:mm:ss`, a fraction and a zone; only date and time are required. */
const ISO_TIME =
  /^(\d{4}-(?:0[1-9]|1[0-2])-\d\d)T((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(\.\d{1,9})?(Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?$/;
/** Every month has this many days. */
const DAYS_MIN = 28;

const FOUR_DIGIT_YEAR = /^\d{4}-/;

/**
 * The success answer of every bet callback. @param transactionId as the service sent it
 * @param transactionTime ISO 8601 UTC, from `normaliseTransactionTime` or `isoTime`
 */
export function accepted(transactionId: string, transactionTime: string): Answer {
  return { status: 200, body: JSON.stringify({ transactionId, transactionTime }) };
}

/** The error answer of every callback. @param message for people; only `code` counts for the service */
export function failure(code: number, message: string, status = 400): Answer {
  return { status, body: JSON.stringify({ code, message }) };
}

/** Milliseconds since the Unix epoch as ISO 8601 UTC. @throws RangeError beyond what a date can hold */
export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/**
 * The `transactionTime` to answer with: an accepted bet must not fail for the format of a time. UTC passes
 * unchanged, an offset is converted, no zone means UTC, anything else becomes the fallback.
 * @param fallbackMs milliseconds since the Unix epoch
 */
export function normaliseTransactionTime(value: unknown, fallbackMs: number): string {
  const match = typeof value === 'string' ? ISO_TIME.exec(value) : null;
  if (match === null) return isoTime(fallbackMs);
  const [whole, date = '', time = '', fraction = '', zone] = match;
  if (!exists(date)) return isoTime(fallbackMs);
  if (zone === undefined) return `${whole}Z`;
  if (zone === 'Z') return whole;
  const converted = isoTime(Date.parse(`${date}T${time}${fraction}${withColon(zone)}`));
  return FOUR_DIGIT_YEAR.test(converted) ? converted : isoTime(fallbackMs);
}

/** Whether a day of an existing month exists: `Date` reads 30 February as 2 March, so the result is compared. */
function exists(date: string): boolean {
  const day = Number(date.slice(8));
  if (day >= 1 && day <= DAYS_MIN) return true;
  const epochMs = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(epochMs) && isoTime(epochMs).startsWith(date);
}

/** `+0300` and `+03` as `+03:00`, the only form that `Date` is guaranteed to accept. */
function withColon(zone: string): string {
  return `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}`;
}
