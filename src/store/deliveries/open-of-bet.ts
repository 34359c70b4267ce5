/**
 * SQL: whether a delivery is open, to find one bet's by `transaction_id`; worded as in the index by bet
 * (`deliveries_bet_open_idx`). Add no `state = …` and no condition on another key: by old statistics, PostgreSQL would
 * read everything open by another index, for each bet.
 * @param d the alias of `deliveries`
 */
export const isOpen = (d: string) =>
  `CASE WHEN ${d}.state IN ('live', 'pending') THEN true ELSE false END`;

/** SQL: whether a delivery is dead, likewise to find one bet's (`deliveries_bet_dead_idx`). */
export const isDead = (d: string) => `CASE WHEN ${d}.state = 'dead' THEN true ELSE false END`;
