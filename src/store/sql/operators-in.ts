/**
 * SQL, for a `WITH RECURSIVE`: the operators in `rows` of a table, and a null at the end. One probe per operator of an
 * index that begins with `operator_id`, however many rows each of them has: `DISTINCT` would read all.
 * @param rows a table and which of its rows, such as `deliveries WHERE state = 'dead'`
 */
export const operatorsIn = (rows: `${string} WHERE ${string}`) => `owner AS (
    SELECT min(operator_id) AS operator FROM ${rows}
     UNION ALL
    SELECT (SELECT min(operator_id) FROM ${rows} AND operator_id > w.operator)
      FROM owner w WHERE w.operator IS NOT NULL
  )`;
