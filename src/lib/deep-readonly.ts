/** Shared data that is changed only by replacing it. */
export type DeepReadonly<T> = T extends readonly (infer E)[]
  ? readonly DeepReadonly<E>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** Freezes plain data deeply, so that a consumer that writes to it by mistake fails at once. */
export function freezeDeep<T>(data: T): T {
  if (typeof data === 'object' && data !== null && !Object.isFrozen(data)) {
    Object.freeze(data);
    for (const member of Object.values(data)) freezeDeep(member);
  }
  return data;
}
