import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';

/**
 * Deletes messages whose codes expired more than `days` days ago. Those of an id that still awaits its code stay, since
 * `delivery` shows their state. At most `limit`.
 */
export async function deleteOldMessages(db: Db, days: number, limit: number): Promise<void> {
  await sql`
    DELETE FROM messages WHERE id = ANY (ARRAY(
      SELECT message.id FROM messages AS message
      WHERE message.expires_at < now() - make_interval(days => ${days})
        AND NOT EXISTS (
          SELECT FROM confirmation_items AS item
          WHERE item.confirmation_id = message.confirmation_id AND item.state IN ('pending', 'confirming', 'expiring'))
      LIMIT ${limit} FOR UPDATE SKIP LOCKED))`.execute(db);
}

/** Deletes the content of messages that could have been sent again until their codes expired. At most `limit`. */
export async function deleteExpiredContent(db: Db, limit: number): Promise<void> {
  await sql`
    UPDATE messages SET sealed_content = NULL WHERE id = ANY (ARRAY(
      SELECT id FROM messages
      WHERE state IN ('sent', 'failed') AND sealed_content IS NOT NULL AND expires_at <= now()
      LIMIT ${limit} FOR UPDATE SKIP LOCKED))`.execute(db);
}
