/**
 * SQL: for how long an operator's deliveries have been held in total, in milliseconds. A new delivery stores it, so
 * that only time held after that extends its horizon.
 * @param operatorId an expression of type text
 */
export const heldMs = (operatorId: string) =>
  `coalesce((SELECT h.held_ms FROM operator_holds h WHERE h.operator_id = ${operatorId}), 0)`;
