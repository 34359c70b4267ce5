/**
 * SQL of the moment in which a day begins. Where the clocks are put back from 01:00 to midnight
 * (Atlantic/Azores, America/Havana) that is midnight twice, and PostgreSQL takes the second; what moves in
 * the hour between belongs to the day that has begun.
 * @param day an expression of type date
 * @param timeZone an expression of type text
 */
export function dayStart(day: string, timeZone: string): string {
  const midnight = `((${day})::timestamp AT TIME ZONE ${timeZone})`;
  const before = `(${midnight} - interval '1 hour')`;
  return `CASE WHEN (${before} AT TIME ZONE ${timeZone})::date = ${day} THEN ${before} ELSE ${midnight} END`;
}
