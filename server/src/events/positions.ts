import { type RawBuilder, sql } from 'kysely';

/**
 * The last position that an event got (`published`), or whose event was deleted (`deleted`). Nearly all events up to that
 * one are then deleted too. 0: none.
 */
export function lastPosition(name: 'published' | 'deleted'): RawBuilder<number> {
  return sql`(SELECT position FROM event_positions WHERE name = ${name})`;
}
