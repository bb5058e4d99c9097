import { selectItems } from '../../confirmations/items.ts';
import { assertMayResend, whyNotResendable } from '../../confirmations/resend.ts';
import { findPatient } from '../../ehr/lookups.ts';
import { Problem } from '../../problems/problem.ts';
import { type PlannedWrite, plannedWrite } from '../../writes/write-kind.ts';
import { contactable, contactOf } from '../contact.ts';
import { detailsOf } from '../drafts.ts';
import { type Confirmable, isConfirmable } from '../plan-confirmation.ts';
import type { RequestContext } from '../request-context.ts';
import { findTargets, requireTarget, type Target } from '../targets.ts';
import { hasOneId } from '../write/changes.ts';
import { assertAllWithinLimits } from '../write/decision.ts';
import type { Step } from '../write/plan.ts';
import { resendKind } from './kind.ts';

/** Plans to send a new code for everything that awaits the same code as this id. */
export async function planResend(context: RequestContext, id: string): Promise<PlannedWrite> {
  const { services, ehr, careUnit, client } = context;
  const target = await requireTarget(context, id, 'all');
  if (!isConfirmable(context, target)) throw new Problem('confirmation_not_pending');
  const { item, appointment } = target;
  if (!item.isPending) throw new Problem(whyNotResendable(item));
  const { confirmationId } = item;
  const response = { appointment, id, replacesId: item.replacesId ?? undefined, word: 'kept' as const };
  const waiting = await waitingTogether(context, target);
  if (!waiting.some((it) => it.id === id)) throw new Problem('confirmation_not_pending');
  const patient = await findPatient(ehr, { type: 'emr_id', value: appointment.patientId });
  if (!patient) throw new Problem('no_contact_channel');
  const details = detailsOf(services.keys, ehr.id, item);
  const contact = contactOf(contactable(patient, details), item.kind, careUnit, services.channels);
  const appointments = waiting.map((it) => ({ id: it.id, start: it.appointment.start }));
  const plan = {
    steps: [...waiting.flatMap(extension), { response }],
    many: false,
    resend: { confirmationId, askedFor: id, patientId: patient.id, ...contact, appointments },
  };
  return plannedWrite(resendKind, { ...plan, hasOneId: hasOneId(ehr, plan) }, async (tx, writeId) => {
    await assertMayResend(tx, confirmationId);
    const proposal = { ...context, clientId: client.id };
    const demand = { held: 0, channels: [contact.channel], isResend: true };
    await assertAllWithinLimits(tx, proposal, [patient.id], { writeId, ...demand });
    return undefined;
  });
}

function extension({ kind, appointment }: Target): Step[] {
  if (kind !== 'appointment') return [];
  return [{ change: { kind: 'extend', appointmentId: appointment.id }, before: appointment }];
}

/** The pending items of the confirmation that are still held. Some may already be booked or cancelled in the EHR. */
async function waitingTogether(context: RequestContext, { item }: Confirmable): Promise<readonly Target[]> {
  const { services, ehr, careUnit } = context;
  const items = await selectItems(services.db, ehr.id, careUnit.id)
    .where('item.confirmation_id', '=', item.confirmationId)
    .where('item.state', '=', 'pending')
    .orderBy('item.position')
    .execute();
  const ids = items.map(({ id }) => id);
  const targets = await findTargets(context, ids);
  return ids
    .flatMap((id) => targets.get(id) ?? [])
    .filter(({ kind, appointment }) => kind !== 'appointment' || appointment.state === 'held');
}
