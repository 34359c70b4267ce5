/** For whatever a loaded machine has to do meanwhile: how long is waited, never what is asserted. */
export const PATIENCE = { timeout: 25_000, interval: 25 } as const;
