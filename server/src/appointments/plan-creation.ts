import type { Appointment, Patient } from '@crossward/connector-kit';
import type { Static } from 'typebox';
import { requireHealthcareService, requirePatient, requireResource } from '../ehr/lookups.ts';
import { patientIdentifier, resourceIdentifier } from '../http/identifiers.ts';
import { inBody } from '../http/places.ts';
import type { ReadHeader } from '../identifiers/index.ts';
import { Problem } from '../problems/problem.ts';
import { assertNotPast, readRange } from '../time/request-times.ts';
import type { PlannedCreation, WritePlan } from '../writes/plan.ts';
import { contactOf } from './contact.ts';
import type { appointmentCreationSchema } from './contract.ts';
import { draftAppointment } from './drafts.ts';
import { makeGatewayId } from './gateway-ids.ts';
import type { Scene } from './scene.ts';
import { longestAppointmentHours } from './time-rules.ts';

export const creationPlaces = { start: inBody('start_time'), end: inBody('end_time') };

/** Books, or holds until a code has come. The EHR itself decides whether the time is free. */
export async function planCreation(
  scene: Scene,
  body: Static<typeof appointmentCreationSchema>,
  readHeader: ReadHeader,
): Promise<WritePlan> {
  const { ehr, careUnit } = scene;
  const text = { start: body.start_time, end: body.end_time };
  const range = readRange(text, creationPlaces, careUnit.timeZone, longestAppointmentHours);
  assertNotPast(range, creationPlaces.start);
  const patientPlace = inBody('patient_id');
  const resourcePlace = inBody('resource_id');
  const servicePlace = inBody('healthcare_service_id');
  const patientId = patientIdentifier(body.patient_id, patientPlace, ehr, readHeader);
  const resourceId = resourceIdentifier(body.resource_id, resourcePlace, ehr, readHeader);
  const patient = await requirePatient(ehr, patientId, patientPlace);
  const resource = await requireResource(ehr, careUnit, resourceId, resourcePlace);
  const service = await requireHealthcareService(ehr, careUnit, body.healthcare_service_id, servicePlace);
  return planCreations(scene, patient, [
    {
      patientId: patient.id,
      resourceId: resource.id,
      healthcareServiceId: service.id,
      ...range,
      comment: body.comment || null,
    },
  ]);
}

type NewAppointment = Omit<PlannedCreation, 'kind' | 'hold'>;

/** New appointments of one patient, by the policy of the care unit and by what the EHR can do. */
export function planCreations(
  { services, ehr, careUnit }: Scene,
  patient: Pick<Patient, 'id' | 'phone' | 'email'>,
  wanted: readonly NewAppointment[],
): WritePlan {
  if (!ehr.capabilities.changes.includes('create')) throw new Problem('operation_unsupported');
  const needsCode = careUnit.bookingConfirmation === 'code';
  if (needsCode && ehr.capabilities.sendsCodes) return planEhrBooking(wanted, careUnit.id);
  const canHold = ehr.capabilities.changes.includes('confirm');
  const contact = needsCode ? contactOf(patient, 'booking', careUnit, services.channels) : undefined;
  const creations = wanted.map((it) => ({ ...it, kind: 'create', hold: needsCode }) as const);
  const confirmation = contact && { kind: 'booking' as const, patientId: patient.id, ...contact };
  if (!confirmation || canHold) {
    return {
      changes: creations,
      confirmations:
        confirmation && creations.length > 0
          ? [{ ...confirmation, items: creations.map((_, change) => ({ change })) }]
          : [],
      answer: creations.map((creation, change) => ({
        from: { change },
        word: 'created',
        preview: newAppointment(creation, '', careUnit.id),
      })),
      many: false,
    };
  }
  const drafts = creations.map((draft) => ({ newId: makeGatewayId(), draft: { ...draft, hold: false } }));
  return {
    changes: [],
    confirmations: [{ ...confirmation, items: drafts }],
    answer: drafts.map(({ newId, draft }) => {
      const appointment = draftAppointment(draft, newId, careUnit.id, 'held');
      return { from: { appointment }, id: newId, word: 'created', preview: appointment };
    }),
    many: false,
  };
}

/** The EHR sends the code and checks it: one for each booking. */
function planEhrBooking(wanted: readonly NewAppointment[], careUnitId: string): WritePlan {
  const [only, another] = wanted;
  if (!only || another) throw new Problem('operation_unsupported', { detail: severalCodes });
  const creation = { ...only, kind: 'create', holdUntil: null } as const;
  return {
    changes: [],
    viaEhr: { kind: 'request booking', creation },
    confirmations: [],
    answer: [
      {
        from: { change: 0 },
        word: 'created',
        preview: draftAppointment({ ...creation, hold: true }, '', careUnitId, 'held'),
      },
    ],
    many: false,
  };
}

export const severalCodes =
  'This EHR sends its codes itself, one for each appointment: they cannot be asked for together.';

function newAppointment(creation: PlannedCreation, id: string, careUnitId: string): Appointment {
  return draftAppointment(creation, id, careUnitId, creation.hold ? 'held' : 'booked');
}
