/** Members of a wallet's profile (the first three) and balance that the gateway adds or omits. */
export const REPAIRED_FIELDS = [
  'currencies',
  'isTest',
  'customFields',
  'userId',
  'currency',
] as const;

export type RepairedField = (typeof REPAIRED_FIELDS)[number];

type Members = Readonly<Record<string, unknown>>;

/** The members of a profile that the service could not read (service protocol, User profile). */
export function oddInProfile({ currencies, isTest, customFields }: Members): RepairedField[] {
  const odd: RepairedField[] = [];
  if (!Array.isArray(currencies)) odd.push('currencies');
  if (isTest !== undefined && typeof isTest !== 'boolean') odd.push('isTest');
  if (customFields !== undefined && !isObject(customFields)) odd.push('customFields');
  return odd;
}

/** The members that the service requires in a balance and that are missing here. */
export function missingInBalance({ userId, currency }: Members): RepairedField[] {
  const missing: RepairedField[] = [];
  if (typeof userId !== 'string') missing.push('userId');
  if (isAbsent(currency)) missing.push('currency');
  return missing;
}

/** A balance in another currency than requested would show money that the player does not have. */
export function isOfOtherCurrency({ currency }: Members, requested: string): boolean {
  return !isAbsent(currency) && currency !== requested;
}

function isAbsent(member: unknown): boolean {
  return member === undefined || member === null;
}

function isObject(member: unknown): boolean {
  return typeof member === 'object' && member !== null && !Array.isArray(member);
}
