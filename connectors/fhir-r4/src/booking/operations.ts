import { type AppointmentWrite, ConnectorError } from '@crossward/connector-kit';
import { isBundle, type WriteAnswer } from '../client.ts';
import type { FhirConnection } from '../connection.ts';
import { type FhirAppointment, type FhirResource, localReference, type Parameters, referenceTo } from '../fhir.ts';
import { actorsOf, appointmentTime, patientIdOf } from '../mappers/appointment.ts';
import { resourceReference } from '../resource-id.ts';
import { runCheckedWrite, settled } from './checked-create.ts';
import { isBroken, isConflict, LostRace, timeTaken, unknownOutcome } from './lost-race.ts';
import type { Plan } from './plan.ts';

/**
 * For a server that books by operation. How `$find` proposes and `$book` names an appointment differs:
 *
 * - `ihe`: `appointment-reference`; https://profiles.ihe.net/ITI/Scheduling/
 * - `argonaut`: `appt-id` and `patient-id`; https://fhir.org/guides/argonaut/scheduling/
 * - `resource`: `appt-resource`, the whole appointment, without asking `$find` (Argonaut's other form, gematik ISiK)
 */
export async function runOperations(
  ehr: FhirConnection,
  plan: Plan,
  write: AppointmentWrite,
): Promise<readonly FhirAppointment[]> {
  const [planned] = plan.appointments;
  if (!planned || planned.before) return runCheckedWrite(ehr, plan);
  return [await settled(ehr, plan, () => book(ehr, planned.after, write))];
}

async function book(ehr: FhirConnection, wanted: FhirAppointment, write: AppointmentWrite): Promise<FhirAppointment> {
  const dialect = ehr.settings.booking?.operations ?? 'ihe';
  const parameters =
    dialect === 'resource'
      ? [{ name: 'appt-resource', resource: wanted }]
      : await proposedParameters(ehr, wanted, write, dialect);
  const answer = await ehr.client.operation('Appointment/$book', { resourceType: 'Parameters', parameter: parameters });
  assertDone(answer);
  const booked = appointmentsIn(answer)[0] ?? (await readAnswered(ehr, answer));
  if (!booked) throw unknownOutcome();
  return booked;
}

async function proposedParameters(
  ehr: FhirConnection,
  wanted: FhirAppointment,
  write: AppointmentWrite,
  dialect: 'ihe' | 'argonaut',
): Promise<Parameters['parameter']> {
  const proposed = await propose(ehr, wanted, write);
  const patient = `Patient/${patientIdOf(wanted)}`;
  const comment = wanted[ehr.dialect.commentField];
  const common = comment === undefined ? [] : [{ name: 'comment', valueString: comment }];
  if (dialect === 'argonaut') {
    return [{ name: 'appt-id', valueUri: referenceTo(proposed) }, { name: 'patient-id', valueUri: patient }, ...common];
  }
  const resource = await ehr.client.read<FhirResource>(patient);
  return [
    { name: 'appointment-reference', valueReference: { reference: referenceTo(proposed) } },
    { name: 'patient-resource', resource },
    ...common,
  ];
}

/** The appointment that the server proposes for exactly this time and resource. */
async function propose(
  ehr: FhirConnection,
  wanted: FhirAppointment,
  write: AppointmentWrite,
): Promise<FhirAppointment> {
  const [change] = write.changes;
  const actor = change?.kind === 'create' ? resourceReference(change.resourceId) : undefined;
  const answer = await ehr.client.operation('Appointment/$find', {
    resourceType: 'Parameters',
    parameter: [
      { name: 'start', valueDateTime: wanted.start },
      { name: 'end', valueDateTime: wanted.end },
      ...(actor ? [{ name: 'practitioner', valueReference: { reference: actor } }] : []),
      ...(wanted.serviceType ?? []).map((type) => ({ name: 'visit-type', valueCodeableConcept: type })),
    ],
  });
  if (!answer.ok) throw answer.refusal ?? new ConnectorError('rejected', 'The EHR proposed nothing');
  const time = appointmentTime(wanted);
  const match = appointmentsIn(answer).find((it) => {
    const own = appointmentTime(it);
    const isThen =
      own?.start.getTime() === time?.start.getTime() &&
      own?.end.getTime() === time?.end.getTime() &&
      it.id !== undefined;
    return isThen && (actor === undefined || actorsOf(it).includes(actor));
  });
  if (!match) throw timeTaken();
  return match;
}

function assertDone(answer: WriteAnswer): void {
  if (answer.ok) return;
  if (isConflict(answer.status)) throw new LostRace();
  if (isBroken(answer.status)) throw unknownOutcome(answer.refusal);
  throw answer.refusal ?? new ConnectorError('rejected', `The EHR answered ${answer.status}`);
}

/** A Bundle by IHE and Argonaut, the appointment itself, or a `return` parameter with either. */
function appointmentsIn({ body }: WriteAnswer): FhirAppointment[] {
  const resource = body as FhirResource | undefined;
  if (resource?.resourceType === 'Appointment') return [resource as FhirAppointment];
  if (isBundle(resource)) {
    return (resource.entry ?? []).flatMap((it) =>
      it.resource?.resourceType === 'Appointment' ? [it.resource as FhirAppointment] : [],
    );
  }
  if (resource?.resourceType !== 'Parameters') return [];
  return (resource as Parameters).parameter.flatMap((it) =>
    appointmentsIn({ body: it.resource } as unknown as WriteAnswer),
  );
}

async function readAnswered(ehr: FhirConnection, answer: WriteAnswer): Promise<FhirAppointment | null> {
  const reference = localReference({ reference: answer.reference ?? '' });
  return reference?.startsWith('Appointment/') ? ehr.client.read<FhirAppointment>(reference) : null;
}
