/** What to prune, and how: the same for all that is pruned. */
export interface PruneOptions {
  /** Months before this time are deleted; it must be the first of a month, UTC. */
  readonly before: Date;
  /** Reports what would be done, and changes nothing. */
  readonly isDryRun: boolean;
  /** Called with what is being done, for people who wait. */
  readonly log: (line: string) => void;
}
