import type { CareUnitConnection, EhrConnection } from '../../ehr/connection.ts';
import type { PageLinks } from '../../messages/page-links.ts';
import type { OperationResponse } from '../../operations/operation-response.ts';
import type { AppointmentBody } from '../contract.ts';
import { appointmentPath, writtenBody } from '../representation.ts';
import type { AppointmentPlan, Results } from './plan.ts';
import type { MadeCodes } from './record.ts';

interface CareUnitContext {
  readonly ehr: EhrConnection;
  readonly careUnit: CareUnitConnection;
  readonly services: { readonly pages: PageLinks };
}

/** The response after a plan was performed. */
export function writtenResponse(
  { ehr, careUnit, services }: CareUnitContext,
  { steps, many }: AppointmentPlan,
  results: Results,
  made: MadeCodes,
): OperationResponse {
  const bodies = steps.flatMap(({ response, change }, index) => {
    if (!response) return [];
    const appointment = change ? results.get(index) : response.appointment;
    if (!appointment) throw new Error('The EHR returned fewer appointments than it was sent changes');
    const { id: planned = appointment.id, replacesId } = response;
    const { id = planned, awaited = response.awaiting } = made.get(index) ?? made.get(planned) ?? {};
    return [writtenBody(appointment, { ehr, careUnit, services, id, replacesId, awaited })];
  });
  if (many) return { body: { appointments: bodies } };
  const [body] = bodies;
  if (!body) throw new Error('A plan for one appointment has no response');
  const isNew = steps.some(({ response }) => response?.word === 'created');
  return isNew ? { body, headers: { location: appointmentPath(ehr.id, careUnit.id, body.id) } } : { body };
}

/** The appointments of a response, in order. */
export function bodiesOf({ body }: OperationResponse): readonly AppointmentBody[] {
  return 'appointments' in body ? (body.appointments as AppointmentBody[]) : [body as AppointmentBody];
}
