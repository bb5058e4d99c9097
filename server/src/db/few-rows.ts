import { type RawBuilder, sql } from 'kysely';

/**
 * A condition that every text in the column meets, unless it is empty. PostgreSQL estimates that one in two hundred meets it,
 * so it takes a list in JSON, which it estimates at a hundred rows, for one row, and looks up each by an index. Otherwise it
 * would scan a table whole while the table is small, and keep that plan for a prepared statement as the table grows, until
 * the next ANALYZE.
 *
 * Source: the default selectivity of an equality, https://www.postgresql.org/docs/current/row-estimation-examples.html
 *
 * @param column of the list
 */
export function isOneOfFew(column: string): RawBuilder<boolean> {
  return sql<boolean>`sign(length(${sql.ref(column)})) = 1`;
}

/**
 * A condition that every time in the column meets. As a range: PostgreSQL estimates that one in two hundred meets it, so it uses
 * a partial index of the few rows that have such a time. It estimates that nearly all meet `IS NOT NULL`, until the first
 * ANALYZE.
 */
export function hasTime(column: string): RawBuilder<boolean> {
  return sql<boolean>`${sql.ref(column)} BETWEEN '-infinity' AND 'infinity'`;
}

/** A condition that every id above `after` meets. As a range, for the same reason as `hasTime`: most rows are dead. */
export function isIdAfter(column: string, after: number): RawBuilder<boolean> {
  return sql<boolean>`${sql.ref(column)} > ${after}::bigint AND ${sql.ref(column)} < ${sql.lit('9223372036854775807')}::bigint`;
}
