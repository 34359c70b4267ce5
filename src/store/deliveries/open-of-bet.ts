/**
 * SQL: whether a delivery is open, for looking one bet up by its `transaction_id`. In these words it is the condition of
 * the index by bet alone (`deliveries_bet_open_idx`). Do not add `state = …` to it, nor a condition on another key: by
 * statistics from before a wallet was away, PostgreSQL would read all that is open by another index, for each bet.
 *
 * @param d the alias of `deliveries`
 */
export const isOpen = (d: string) =>
  `CASE WHEN ${d}.state IN ('live', 'pending') THEN true ELSE false END`;

/** SQL: whether a delivery is dead, likewise for looking one bet up (`deliveries_bet_dead_idx`). */
export const isDead = (d: string) => `CASE WHEN ${d}.state = 'dead' THEN true ELSE false END`;
