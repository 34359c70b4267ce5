/**
 * SQL: how long an operator's deliveries have been held until now, in milliseconds. A new delivery notes it: only
 * what is added later prolongs its horizon.
 * @param operatorId an expression of type text
 */
export const heldMs = (operatorId: string) =>
  `coalesce((SELECT h.held_ms FROM operator_holds h WHERE h.operator_id = ${operatorId}), 0)`;
