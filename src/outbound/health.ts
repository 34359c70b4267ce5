/**
 * What one call says about the other side's health. `neutral`: nothing, because the gateway's own
 * deadline ended it.
 */
export type Health = 'healthy' | 'faulty' | 'neutral';
