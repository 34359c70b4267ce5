/** Freezes plain data through and through, so that a slip of one consumer is an error at once. */
export function freezeDeep<T>(data: T): T {
  if (typeof data === 'object' && data !== null && !Object.isFrozen(data)) {
    Object.freeze(data);
    for (const member of Object.values(data)) freezeDeep(member);
  }
  return data;
}
