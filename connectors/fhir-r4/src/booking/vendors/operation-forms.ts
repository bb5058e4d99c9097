import { ConnectorError } from '@crossward/connector-kit';
import type { FhirAppointment, FhirResource, Parameter } from '../../fhir.ts';
import type { BookingConnection } from '../../server/connection.ts';
import type { FhirSettings } from '../../settings.ts';
import { actorParameter, commentParameter, proposals, range, visitTypes } from '../by-operations/calls.ts';
import { bookPath, holdPath, type OperationCall, type OperationForm, type Words } from '../by-operations/form.ts';
import { medplum } from './medplum/medplum.ts';

/** https://profiles.ihe.net/ITI/Scheduling/ (ITI-115, ITI-116, ITI-117) */
const ihe: OperationForm = {
  takesAppointment: false,
  propose: (ehr, wanted) =>
    proposals(ehr, [
      ...range(wanted, 'start', 'end'),
      ...actorParameter(wanted, (reference) => ({ valueReference: { reference } })),
      ...visitTypes(wanted),
      { name: 'patient-reference', valueReference: { reference: wanted.patient } },
    ]),
  book: bookByReference,
  hold: {
    take: (chosen) => ({ path: holdPath, parameter: [appointmentReference(chosen)] }),
    confirm: bookByReference,
  },
  // `$book` can move an appointment too, but ignores versions: it would overwrite changes by others.
  cancel: (cancelled) => ({ path: bookPath, parameter: [{ name: 'appointment-resource', resource: cancelled }] }),
};

async function bookByReference(ehr: BookingConnection, chosen: FhirAppointment, words: Words): Promise<OperationCall> {
  const patient = await ehr.client.read<FhirResource>(words.patient);
  if (!patient) throw new ConnectorError('patient_not_found', 'No such patient');
  const parameter = [appointmentReference(chosen), { name: 'patient-resource', resource: patient }];
  return { path: bookPath, parameter: [...parameter, ...commentParameter(words, 'comment')] };
}

function appointmentReference({ id }: FhirAppointment): Parameter {
  return { name: 'appointment-reference', valueReference: { reference: `Appointment/${id}` } };
}

/** https://fhir.org/guides/argonaut/scheduling/ */
const argonaut: OperationForm = {
  takesAppointment: false,
  propose: (ehr, wanted) =>
    proposals(ehr, [
      ...range(wanted, 'start', 'end'),
      ...actorParameter(wanted, (valueUri) => ({ valueUri })),
      ...visitTypes(wanted),
      { name: 'patient-reference', valueUri: wanted.patient },
    ]),
  book: bookById,
  hold: {
    take: ({ id }) => ({ path: holdPath, parameter: [{ name: 'appt-id', valueUri: `Appointment/${id}` }] }),
    confirm: bookById,
  },
  cancel: null,
};

async function bookById(_: BookingConnection, { id }: FhirAppointment, words: Words): Promise<OperationCall> {
  return {
    path: bookPath,
    parameter: [
      { name: 'appt-id', valueUri: `Appointment/${id}` },
      { name: 'patient-id', valueUri: words.patient },
      ...commentParameter(words, 'comment'),
    ],
  };
}

/** Epic's own names, from before R4: https://fhir.epic.com/Specifications (Appointment.$find, Appointment.$book, STU3) */
const epic: OperationForm = {
  takesAppointment: false,
  propose: (ehr, wanted) =>
    proposals(ehr, [
      ...range(wanted, 'startTime', 'endTime'),
      ...(wanted.appointment.serviceType ?? []).map((type) => ({ name: 'service-type', valueCodeableConcept: type })),
    ]),
  book: async (_, { id = '' }, words) => ({
    path: bookPath,
    parameter: [
      { name: 'patient', valueIdentifier: { value: words.patient.slice('Patient/'.length) } },
      { name: 'appointment', valueIdentifier: { value: id } },
      ...commentParameter(words, 'appointmentNote'),
    ],
  }),
  hold: null,
  cancel: null,
};

/**
 * Calls `$book` with the whole appointment in the status `proposed`; the server proposes none. gematik ISiK
 * Terminplanung, and the other form of Argonaut: https://gematik.de/fhir/isik/OperationDefinition/AppointmentBook
 */
const isik: OperationForm = {
  takesAppointment: true,
  propose: null,
  book: async (_, chosen) => ({
    path: bookPath,
    parameter: [{ name: 'appt-resource', resource: { ...chosen, status: 'proposed' } }],
  }),
  hold: null,
  cancel: null,
};

type Name = NonNullable<NonNullable<FhirSettings['booking']>['operations']>;

/** The values of the setting `booking.operations`. */
const byName: Readonly<Record<Name, OperationForm>> = { ihe, argonaut, epic, isik, medplum };

export function operationsOf({ booking: { operations = 'ihe' } = {} }: FhirSettings): OperationForm {
  return byName[operations];
}
