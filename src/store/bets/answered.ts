/*
 * The answer that the service got for an operation. If it was answered without an attempt, or corrected later
 * (`CORRECT_ANSWER`), the answer is in the operation's row, which takes precedence; otherwise it is in the row of the
 * first attempt that had a waiting caller.
 */

/** Joins that attempt `a` to an operation `o`; there may be none. */
export const WITH_ANSWERED_ATTEMPT = `
    LEFT JOIN LATERAL (SELECT answer_status, answer_body FROM attempts
                        WHERE operation_id = o.id AND answer_status IS NOT NULL
                        ORDER BY number LIMIT 1) a ON true`;

/** The answer to `o`, joined with that attempt. */
export const ANSWER = `
         coalesce(o.answer_status, a.answer_status) AS answer_status,
         CASE WHEN o.answer_status IS NULL THEN a.answer_body ELSE o.answer_body END AS answer_body`;

/** The HTTP status that an operation `p` was answered with; null while it has no answer on record. */
export const ANSWERED_STATUS = `coalesce(p.answer_status, (
         SELECT a.answer_status FROM attempts a WHERE a.operation_id = p.id AND a.answer_status IS NOT NULL
          ORDER BY a.number LIMIT 1))`;
