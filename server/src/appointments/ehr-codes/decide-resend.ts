import { sql } from 'kysely';
import type { Tx } from '../../db/kysely.ts';
import type { RequestContext } from '../request-context.ts';
import { assertMaySend } from '../write/resend.ts';

/** Counts the code before the EHR sends it, so that only one of several concurrent requests passes. @throws Problem */
export async function decideResend(
  tx: Tx,
  context: RequestContext,
  about: { readonly confirmationId: string; readonly patientId: string },
): Promise<void> {
  await assertMaySend(tx, { ...context, clientId: context.client.id }, about);
  await tx
    .updateTable('confirmations')
    .set({
      codes_sent: sql<number>`codes_sent + 1`,
      last_code_sent_at: sql<Date>`clock_timestamp()`,
      // The confirmation must not expire during the call to the EHR.
      expires_at: sql<Date>`greatest(expires_at, clock_timestamp() + make_interval(secs => ${context.ehr.patience.callSeconds}))`,
    })
    .where('id', '=', about.confirmationId)
    .execute();
}
