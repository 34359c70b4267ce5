/**
 * SQL for the moment a day begins. Where clocks are put back from 01:00 to midnight (Atlantic/Azores,
 * America/Havana) midnight comes twice, and PostgreSQL picks the second; this picks the first, because the
 * hour between them already belongs to the new day.
 * @param day an expression of type date
 * @param timeZone an expression of type text
 */
export function dayStart(day: string, timeZone: string): string {
  const midnight = `((${day})::timestamp AT TIME ZONE ${timeZone})`;
  const before = `(${midnight} - interval '1 hour')`;
  return `CASE WHEN (${before} AT TIME ZONE ${timeZone})::date = ${day} THEN ${before} ELSE ${midnight} END`;
}
