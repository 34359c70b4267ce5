/** SQL: whether a column's amount is ordinary decimal text, which PostgreSQL may read as a number. */
export function isPlain(column: string): string {
  // A bound in the pattern (`{1,100}`) takes fifteen times as long.
  return `length(${column}) <= 200 AND ${column} ~ '^[0-9]+(\\.[0-9]+)?$'`;
}
