/**
 * What one call says of the other side's health. `neutral`: it ended before it had a say, by
 * the gateway's own deadline.
 */
export type Health = 'healthy' | 'faulty' | 'neutral';
