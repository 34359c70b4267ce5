/** An operator's id of a player (service protocol, CustomFields, operatorUser). */
export const OPERATOR_USER = /^[A-Za-z0-9._~-]{1,64}$/;
