import type { Appointment } from '@medplum/fhirtypes';
import type { FastifyRequest } from 'fastify';
import type { PlannedWrite } from '../../writes/write-kind.ts';
import { appointmentNames } from '../directory.ts';
import { accessOf, unknownResource } from '../face.ts';
import { invalid } from '../from-fhir/faults.ts';
import { jsonPatchOf, patched } from '../from-fhir/patch.ts';
import {
  fhirAppointmentSchema,
  jsonPatchSchema,
  parametersSchema,
  type SentAppointment,
} from '../from-fhir/schemas.ts';
import { fhirWrite } from '../interaction.ts';
import { checked } from '../native.ts';
import { currentOf, planFhirChange, readBefore, readingIn } from './plan.ts';
import { appointmentWrite, written } from './show.ts';

export const appointmentPatch = fhirWrite({
  ...appointmentWrite,
  name: 'fhir_patch_appointment',
  method: 'PATCH',
  path: '/:id',
  status: 200,
  representation: { ...written, consumes: ['application/json-patch+json', 'application/fhir+json'] },
  plan: planPatch,
});

async function planPatch(request: FastifyRequest, body: unknown, idInPath: string): Promise<PlannedWrite> {
  const isFhirPath = !(request.headers['content-type'] ?? '').includes('json-patch');
  const [before, { directory }] = await Promise.all([readBefore(request, idInPath), readingIn(request)]);
  const current = await currentOf(request, before, appointmentNames(accessOf(request), directory));
  if (!current) throw unknownResource('appointment_not_found');
  const patch = isFhirPath
    ? jsonPatchOf(checked(request, parametersSchema, body).parameter ?? [], current)
    : checked(request, jsonPatchSchema, body);
  const appointment = checked(request, fhirAppointmentSchema, patched(current, patch));
  assertSameTime(current, appointment);
  return planFhirChange(request, before, appointment, { isWhole: true, isPatch: true });
}

/** As ISiK has it, a patch does not move. @throws Problem `request_invalid` */
function assertSameTime(current: Appointment, appointment: SentAppointment): void {
  for (const name of ['start', 'end', 'slot', 'minutesDuration'] as const) {
    if (JSON.stringify(current[name]) === JSON.stringify(appointment[name])) continue;
    throw invalid(`/${name}`, 'Move an Appointment by PUT or $book.', 'not-supported');
  }
}
