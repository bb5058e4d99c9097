import type { Appointment } from '@crossward/connector-kit';
import type { Item } from '../confirmations/items.ts';
import { itemContext } from '../confirmations/store.ts';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import type { PlannedCreation } from './write/plan.ts';
import { draftAppointment } from './write/plan.ts';

type Named = Pick<Item, 'id' | 'sealedDraft' | 'isPending'>;

/** Decrypts the booking that a draft stores. */
export function draftOf(keys: KeyRing, emr: string, item: Pick<Item, 'id' | 'sealedDraft'>): PlannedCreation {
  const text = item.sealedDraft && keys.open('confirmation', item.sealedDraft, itemContext(emr, item.id));
  if (!text) throw new Error('A draft cannot be decrypted');
  const draft = JSON.parse(text) as PlannedCreation;
  return { ...draft, start: new Date(draft.start), end: new Date(draft.end) };
}

/** Shows a draft as an appointment. */
export function openDraft(keys: KeyRing, ehr: EhrConnection, careUnit: CareUnitConnection, item: Named): Appointment {
  return draftAppointment(draftOf(keys, ehr.id, item), item.id, careUnit.id, item.isPending ? 'held' : 'cancelled');
}
