import type { Appointment, PatientDetails } from '@crossward/connector-kit';
import type { Item } from '../confirmations/items.ts';
import { itemContext } from '../confirmations/store.ts';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import type { PlannedCreation } from './write/plan.ts';
import { draftAppointment } from './write/plan.ts';

type Sealed = Pick<Item, 'id' | 'sealedDraft' | 'sealedPatientDetails'>;

/** Decrypts the booking that a draft stores. */
export function draftOf(keys: KeyRing, emr: string, item: Sealed): PlannedCreation {
  const text = item.sealedDraft && keys.open('confirmation', item.sealedDraft, itemContext(emr, item.id));
  if (!text) throw new Error('A draft cannot be decrypted');
  const draft = JSON.parse(text) as PlannedCreation;
  const patientDetails = detailsOf(keys, emr, item);
  return {
    ...draft,
    start: new Date(draft.start),
    end: new Date(draft.end),
    ...(patientDetails && { patientDetails }),
  };
}

/** Decrypts what the caller told about the patient with a booking that awaits its code. */
export function detailsOf(
  keys: KeyRing,
  emr: string,
  { id, sealedPatientDetails }: Pick<Item, 'id' | 'sealedPatientDetails'>,
): PatientDetails | undefined {
  const text = sealedPatientDetails && keys.open('confirmation', sealedPatientDetails, itemContext(emr, id));
  return text ? (JSON.parse(text) as PatientDetails) : undefined;
}

/** Shows a draft as an appointment. */
export function openDraft(
  keys: KeyRing,
  ehr: EhrConnection,
  careUnit: CareUnitConnection,
  item: Sealed & Pick<Item, 'isPending'>,
): Appointment {
  return draftAppointment(draftOf(keys, ehr.id, item), item.id, careUnit.id, item.isPending ? 'held' : 'cancelled');
}
