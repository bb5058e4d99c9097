import type { FastifyRequest } from 'fastify';
import { changeAppointment } from '../../appointments/routes.ts';
import { requireTarget } from '../../appointments/targets.ts';
import { findCancellation } from '../../confirmations/items.ts';
import { assertUnconditional } from '../conditions.ts';
import { accessOf, unknownResource } from '../face.ts';
import { invalid } from '../from-fhir/faults.ts';
import { parametersSchema } from '../from-fhir/schemas.ts';
import { fromFhirId } from '../ids.ts';
import { fhirWrite } from '../interaction.ts';
import { checked, planNative } from '../native.ts';
import { valueIn } from './parameters.ts';
import { readBefore, readingIn } from './plan.ts';
import { appointmentWrite, written } from './show.ts';

export const appointmentConfirm = fhirWrite({
  ...appointmentWrite,
  name: 'fhir_confirm_appointment',
  method: 'POST',
  path: '/:id/$confirm',
  sent: 'Parameters',
  status: 200,
  representation: written,
  async plan(request, body, id) {
    const { parameter = [] } = checked(request, parametersSchema, body);
    const code = valueIn(parameter, 'code');
    if (code === undefined) throw invalid('/parameter', 'The parameter code is missing.', 'required');
    const appointment_id = await awaitingId(request, id);
    return planNative(request, changeAppointment, { params: { appointment_id }, body: { confirmation: { code } } });
  },
});

/**
 * The native id that awaits a code, or awaited one: of the cancellation, or else of the booking.
 *
 * @throws Problem `appointment_not_found`
 */
export async function awaitingId(request: FastifyRequest, idInPath: string): Promise<string> {
  assertUnconditional(request);
  if (request.headers['if-match'] !== undefined) await readBefore(request, idInPath);
  // For the response. A code is entered without it, too.
  await readingIn(request).catch(() => undefined);
  const access = accessOf(request);
  const { services } = request.server.endpointDeps;
  const native = fromFhirId(idInPath);
  if (native === undefined) throw unknownResource('appointment_not_found');
  const { id, kind, appointment } = await requireTarget({ ...access, services }, native);
  if (kind === 'cancellation') throw unknownResource('appointment_not_found');
  const { ehr, careUnit } = access;
  const cancellation = await findCancellation(services.db, ehr.id, careUnit.id, appointment.id);
  return cancellation?.id ?? id;
}
