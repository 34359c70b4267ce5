/**
 * SQL, for a `WITH RECURSIVE`: the operators in `rows`, and a null. One index probe per operator; `DISTINCT` would
 * read all. @param rows a table and which of its rows, such as `deliveries WHERE state = 'dead'`
 */
export const operatorsIn = (rows: `${string} WHERE ${string}`) => `owner AS (
    SELECT min(operator_id) AS operator FROM ${rows}
     UNION ALL
    SELECT (SELECT min(operator_id) FROM ${rows} AND operator_id > w.operator)
      FROM owner w WHERE w.operator IS NOT NULL
  )`;
