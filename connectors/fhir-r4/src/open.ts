import type { Connector, ConnectorContext, EhrPlace } from '@crossward/connector-kit';
import { findAppointments, listAppointments } from './appointments/reads.ts';
import { assertSuits, chooseMode, openBooking } from './booking/choose-booking.ts';
import type { FhirLocation } from './fhir.ts';
import { codeOf } from './mappers/healthcare-service.ts';
import { documents } from './notes-and-documents/documents.ts';
import { medicalNotes } from './notes-and-documents/medical-notes.ts';
import { patientCreation } from './patients/creation.ts';
import { findPatient } from './patients/patients.ts';
import { patientSearch, patientSearchBy } from './patients/search.ts';
import { horizonDays } from './schedules/grow.ts';
import { assertSchedulesCanBeWritten, scheduleOperations, writesSchedules } from './schedules/operations.ts';
import { deletionSource, readServerFacts } from './server/capability-statement.ts';
import { connect, signIn } from './server/connection.ts';
import type { FhirSettings } from './settings.ts';
import { findsChanges, listAppointmentChanges } from './staff-changes/appointment-changes.ts';

/**
 * Most reads are the same for every server. The booking mode is chosen once, when the connection opens:
 * `choose-booking.ts`.
 */
export async function open(context: ConnectorContext<FhirSettings>): Promise<Connector> {
  const client = await signIn(context);
  const facts = await readServerFacts(client);
  assertSchedulesCanBeWritten(context.settings);
  const mode = await chooseMode(client, facts, context.settings);
  assertSuits(mode, context.settings);
  const ehr = connect(context, client, facts);
  const booking = openBooking(mode, ehr, facts);
  const { settings } = ehr;
  const { capabilities, listTimeSlots, changeAppointments, findOperation } = booking;
  const records = { ...medicalNotes(ehr, facts), ...documents(ehr, facts), ...scheduleOperations(ehr, mode, facts) };
  const searchBy = patientSearchBy(ehr, facts);
  const createsOnce = Boolean(records.findMedicalNoteWrite ?? records.findDocumentWrite ?? records.findScheduleWrite);
  return {
    capabilities: {
      patientIdentifierTypes: ehr.patientIdentifierTypes,
      resourceIdentifierTypes: ehr.resourceIdentifierTypes,
      ...(searchBy.length === 1 ? { patientSearchBy: searchBy } : {}),
      ...(writesSchedules(ehr, mode, facts) ? { slotHorizonDays: horizonDays(ehr) } : {}),
      ...capabilities,
      ...(settings.patient_header
        ? { appointmentsByPatient: 'required', slotsByPatient: 'required', appointmentIdsNamePatients: true }
        : {}),
      // Some servers ignore If-None-Exist, by which these are created.
      ...(createsOnce ? { repeatsLateWrites: true } : {}),
    },
    async findPatient(identifier, intended) {
      const keepFor = intended && booking.readIntended?.(intended);
      const patient = await findPatient(ehr, identifier);
      if (patient) keepFor?.(patient.id);
      return patient;
    },
    findResource: async (careUnit, { type, value }) =>
      (await ehr.directory.find(careUnit, ({ resources }) =>
        resources.find((it) => it.identifiers.some((own) => own.type === type && own.value === value)),
      )) ?? null,
    listResources: async (careUnit) => (await ehr.directory.of(careUnit)).resources,
    listHealthcareServices: async (careUnit, wanted = []) => {
      const complete = await ehr.directory.find(careUnit, ({ services }) =>
        wanted.every((id) => services.some((it) => it.id === id)) ? services : undefined,
      );
      const services = complete ?? (await ehr.directory.of(careUnit)).services;
      return services.map(({ id, name, durationMinutes, codings }) => ({
        id,
        name,
        durationMinutes,
        codes: codings.flatMap(codeOf),
      }));
    },
    findAppointments: booking.findAppointments ?? ((careUnit, ids) => findAppointments(ehr, careUnit, ids)),
    listAppointments: (query) => listAppointments(ehr, query),
    ...(!settings.patient_header && facts.can('Appointment', 'search-type') && (await findsChanges(client, facts))
      ? { listAppointmentChanges: (query) => listAppointmentChanges(ehr, deletionSource(facts), query) }
      : {}),
    listTimeSlots,
    ...(changeAppointments ? { changeAppointments } : {}),
    ...(findOperation ? { findOperation } : {}),
    ...patientSearch(ehr, facts),
    ...patientCreation(ehr, facts),
    ...records,
  };
}

/** The locations of the server's first page. */
export async function places(context: ConnectorContext<FhirSettings>): Promise<readonly EhrPlace[]> {
  const client = await signIn(context);
  const { value: page } = await client.pages('Location', []).next();
  const locations = (page?.resources ?? []) as readonly FhirLocation[];
  return locations
    .filter(({ status }) => status !== 'inactive')
    .map(({ id = '', name }) => ({ name: name || id, settings: { location: `Location/${id}` } }));
}
