import { sql } from 'kysely';
import type { AppointmentBody } from '../../../appointments/contract.ts';
import type { Db } from '../../../db/kysely.ts';
import { type Html, html } from '../../../html/html.ts';
import { Problem } from '../../../problems/problem.ts';
import type { KeyRing } from '../../../secrets/key-ring.ts';
import { openOutcome } from '../../../writes/stored-write.ts';
import { interruptedTries } from '../../audit/activity.ts';
import { postForm } from '../../frame/frame.ts';
import { linkTo, type SignedIn } from '../../frame/page.ts';
import { table, time } from '../../frame/parts.ts';

/** The client id of tries begins with this. No client has such an id. */
export const ofOperator = 'operator:';

/** An appointment that a try has booked and that no try has cancelled, as far as stored responses say. */
export interface StandingTry {
  readonly id: string;
  readonly careUnitId: string;
  readonly operator: string;
  readonly bookedAt: Date;
  /** ISO 8601, with the offset of the care unit. */
  readonly start: string;
  readonly resourceId: string | null;
}

interface Row {
  readonly clientId: string;
  readonly keyHash: Buffer;
  readonly careUnitId: string;
  readonly at: Date;
  readonly sealed: Buffer;
}

/** What a gateway that was killed in a try has left, as long as the responses to its writes are kept. */
export async function standingTries(
  { db, keys }: { readonly db: Db; readonly keys: KeyRing },
  emr: string,
): Promise<readonly StandingTry[]> {
  const { rows } = await sql<Row>`
    SELECT client_id AS "clientId", idempotency_key_hash AS "keyHash", care_unit_id AS "careUnitId", created_at AS at,
      sealed_response AS sealed
    FROM operations WHERE emr = ${emr} AND sealed_response IS NOT NULL AND idempotency_key_hash IS NOT NULL
      AND client_id IN (
        SELECT ${ofOperator} || operator_name FROM operator_activity
        WHERE at > now() - interval '30 days' AND action = 'emr_try_booking' AND target = ${emr})
    ORDER BY created_at`.execute(db);
  const standing = new Map<string, StandingTry>();
  for (const { sealed, at, ...row } of rows) {
    const outcome = openOutcome(keys, row, sealed);
    if (outcome instanceof Problem) continue;
    const { id, status, start, resource_id } = outcome.body as AppointmentBody;
    const operator = row.clientId.slice(ofOperator.length);
    if (status === 'cancelled') standing.delete(id);
    else standing.set(id, { id, careUnitId: row.careUnitId, operator, bookedAt: at, start, resourceId: resource_id });
  }
  return [...standing.values()];
}

/** What stands, with the button that cancels it. */
export async function standingPart(context: SignedIn, emr: string, attempt: string): Promise<Html | false> {
  const { db, keys } = context.deps.services;
  const standing = await standingTries({ db, keys }, emr);
  const isInterrupted = (await interruptedTries(db)).some((it) => it.emr === emr);
  if (standing.length === 0 && !isInterrupted) return false;
  const form = (id: string, label: Html) =>
    postForm(
      context,
      `connections/${emr}/try/cancel`,
      html`<input type="hidden" name="attempt" value="${attempt}"><input type="hidden" name="appointment" value="${id}">
<button class="small${id === '' && ' secondary'}">${label}</button>`,
    );
  return html`<h3>Left by a try</h3>
<p class="advice bad">A try has ended before it had cancelled, or is still running. The gateway completes or undoes a write that it was in
the middle of: see <a href="${linkTo(context, 'operations')}">Operations</a>.${standing.length === 0 && ' No booking of it stands now, as far as the gateway knows.'}</p>
${
  standing.length > 0 &&
  table(
    'Appointments that tries have booked and not cancelled',
    ['Appointment', 'Start', 'Resource', 'Tried by', 'Cancel'],
    standing.map(({ id, start, resourceId, operator, bookedAt }) => [
      html`<code>${id}</code>`,
      start,
      html`<code>${resourceId ?? 'not known'}</code>`,
      html`${operator}, ${time(bookedAt)}`,
      form(id, html`Cancel it<span class="aside">: ${id}</span>`),
    ]),
  )
}${standing.length === 0 && form('', html`Noted`)}`;
}
