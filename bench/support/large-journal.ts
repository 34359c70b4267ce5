/**
 * PostgreSQL's settings for a large journal, as in docs/databases.md (Memory): enough memory for the indexes, and few
 * checkpoints.
 */
export function largeJournal(buffersMb: number): Readonly<Record<string, string>> {
  return {
    shared_buffers: `${buffersMb}MB`,
    max_wal_size: '8GB',
    min_wal_size: '2GB',
    checkpoint_timeout: '15min',
  };
}
