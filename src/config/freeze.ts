/** Freezes plain data deeply, so that a consumer that writes to it by mistake fails at once. */
export function freezeDeep<T>(data: T): T {
  if (typeof data === 'object' && data !== null && !Object.isFrozen(data)) {
    Object.freeze(data);
    for (const member of Object.values(data)) freezeDeep(member);
  }
  return data;
}
