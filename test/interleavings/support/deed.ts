/** What people do about a bet, and what the worker does about it. */
export const DEEDS = [
  ...(['retry', 'retry all', 'resolve', 'say', 'work', 'confirm'] as const),
  // The operator's wallet is replaced, the one before is back, and a person releases to the present one.
  ...(['raise', 'lower', 'release'] as const),
] as const;
export type Deed = (typeof DEEDS)[number];

/** A person's action and its answer; undefined until it has come, and if the process was killed. */
export interface Done {
  readonly deed: Deed;
  answer: string | undefined;
}

export function isDeed(act: string): act is Deed {
  return DEEDS.some((one) => one === act);
}
