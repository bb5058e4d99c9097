import { sql } from 'kysely';
import type { Tx } from '../db/kysely.ts';
import type { Channel } from '../db/tables/messages.ts';
import { isUuid } from '../identifiers/uuid.ts';
import { claimEnd } from './claim-messages.ts';

/** Queued messages: one, those of a channel, or all. */
interface Meant {
  readonly id?: string | undefined;
  readonly channel?: Channel | undefined;
}

/**
 * Makes the next attempts of queued messages due, even if the provider asked to wait. A gateway makes them within seconds.
 * Returns the number of queued messages that are meant.
 */
export async function sendNow(tx: Tx, { id, channel }: Meant): Promise<number> {
  if (id !== undefined && !isUuid(id)) return 0;
  // An attempt that is under way has a claim, or is due: another one could send the message twice.
  const { numAffectedRows = 0n } = await sql`
    UPDATE messages SET not_before = NULL,
      next_attempt_at = CASE WHEN next_attempt_at > ${claimEnd} THEN now() ELSE next_attempt_at END
    WHERE state = 'queued' AND id = coalesce(${id ?? null}, id)
      AND channel = coalesce(${channel ?? null}, channel)`.execute(tx);
  return Number(numAffectedRows);
}
