import { attendances } from '@crossward/connector-kit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AppointmentBody } from '../appointments/contract.ts';
import type { CareUnitConnection } from '../ehr/connection.ts';
import { formatInstant } from '../time/date-times.ts';
import type { Directory } from './directory.ts';
import { changeBody, creationBody } from './from-fhir/native-bodies.ts';
import { readAppointment } from './from-fhir/read-appointment.ts';
import type { SentAppointment } from './from-fhir/schemas.ts';
import { fhirIdOf, fromFhirId, notationOf } from './ids.ts';
import { toAppointment, versionOfAppointment } from './to-fhir/appointment.ts';
import { typeOfKind } from './to-fhir/resource.ts';

const id = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9.-]{1,64}$/),
  fc.string({ minLength: 1, maxLength: 10, unit: 'grapheme' }),
);
const kinds = ['practitioner', 'room', 'device'] as const;
const seconds = fc.integer({ min: 1_600_000_000, max: 3_000_000_000 });

const appointments = fc
  .record({
    ids: fc.tuple(id, id, id, id),
    kind: fc.constantFrom(...kinds),
    start: seconds,
    minutes: fc.integer({ min: 1, max: 600 }),
    comment: fc.oneof(fc.constant(null), fc.string({ minLength: 1 })),
    attendance: fc.constantFrom(null, ...attendances),
    timeZone: fc.constantFrom('Europe/Oslo', 'Europe/London', 'America/St_Johns'),
  })
  .filter(
    ({ ids: [own, patient, resource, service] }) => own !== '' && patient !== '' && resource !== '' && service !== '',
  );

test('native → FHIR → native is the identity for every appointment that the face shows', () => {
  fc.assert(
    fc.property(
      appointments,
      ({ ids: [own, patient, resource, service], kind, start, minutes, comment, attendance, timeZone }) => {
        const format = (at: number) => formatInstant(new Date(at * 1000), timeZone);
        const native = {
          id: own,
          status: 'booked',
          start: format(start),
          end: format(start + minutes * 60),
          comment,
          patient_id: `emr_id:${patient}`,
          resource_id: `emr_id:${resource}`,
          healthcare_service_id: service,
          emr: 'north',
          care_unit_id: 'ward',
          confirmation: null,
          replaces_id: null,
          supersedes_id: null,
          attendance,
          modality: null,
          notice: null,
        } satisfies AppointmentBody;
        const bookable = {
          id: native.resource_id,
          identifiers: [],
          kind,
          name: 'R',
          healthcare_service_ids: [service],
        };
        const offered = { id: service, name: 'S', codes: [], duration_minutes: null };
        const directory: Directory = {
          resources: [bookable],
          services: [offered],
          agendas: [{ resource: bookable, service: offered }],
        };
        const careUnit = { id: 'ward', name: 'Ward', timeZone } as CareUnitConnection;
        const patients = { fhirIdOf, notationOf };
        const named = {
          careUnit,
          patients,
          typeOf: () => typeOfKind[kind],
          nameOfResource: () => 'R',
          nameOfService: () => 'S',
          identifiers: new Map(),
        };
        const fhir = toAppointment(native, named);
        fc.pre(fhir !== undefined);
        expect(fhir?.meta?.versionId).toBe(versionOfAppointment(native));
        const sent = JSON.parse(JSON.stringify(fhir)) as SentAppointment;
        const wish = readAppointment(sent, { base: 'http://localhost/fhir-r4', careUnit, directory, patients });
        expect(fromFhirId(fhir?.id ?? '')).toBe(own);
        const { patient_id, resource_id, healthcare_service_id } = native;
        expect(creationBody(wish, timeZone)).toEqual({
          ...{ patient_id, resource_id, healthcare_service_id },
          start_time: native.start,
          end_time: native.end,
          ...(comment === null ? {} : { comment }),
        });
        // Sent back unchanged, it changes nothing.
        const rules = { timeZone, isWhole: true, isPatch: false };
        expect(changeBody(native, wish, rules)).toEqual({ start: native.start, end: native.end });
      },
    ),
  );
});
