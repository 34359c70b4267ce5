/**
 * SQL for the moment a day begins. Where clocks are put back to midnight it comes twice, and PostgreSQL picks the
 * second; this picks the first. @param day an expression of type date @param timeZone of type text
 */
export function dayStart(day: string, timeZone: string): string {
  const midnight = `((${day})::timestamp AT TIME ZONE ${timeZone})`;
  const before = `(${midnight} - interval '1 hour')`;
  return `CASE WHEN (${before} AT TIME ZONE ${timeZone})::date = ${day} THEN ${before} ELSE ${midnight} END`;
}
