import { sql } from 'kysely';
import type { Tx } from '../../db/kysely.ts';
import type { RequestContext } from '../request-context.ts';
import { assertMaySend } from '../write/fresh-code.ts';

/** Counts the code before the EHR is asked for it: of several requests at once one passes. @throws Problem */
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
      // It does not run out while the EHR is asked.
      expires_at: sql<Date>`greatest(expires_at, clock_timestamp() + make_interval(secs => ${context.ehr.patience.callSeconds}))`,
    })
    .where('id', '=', about.confirmationId)
    .execute();
}
