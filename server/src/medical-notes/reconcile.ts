import type { MedicalNote } from '@crossward/connector-kit';
import { isPlannedElsewhere } from '../unfinished-writes/other-plans.ts';
import type { Work } from '../writes/write-kind.ts';
import { type MedicalNotePlan, medicalNoteKindName } from './plan.ts';

/** More notes than one author writes about a patient while the gateway looks for one of them. */
const mostNotes = 100;

/**
 * Looks for the note of a write in an EHR that does not find writes by operation id. A note counts as ours if it is the only
 * one since the request with the same author, title, text and appointment, and no other open write would write it.
 */
export async function reconcileNote(work: Work, plan: MedicalNotePlan): Promise<MedicalNote | null> {
  const { ehr, careUnit, call } = work;
  if (!ehr.offers('listMedicalNotes')) return null;
  const { patientId, authorId, requestedAt } = plan;
  const found = await call('listMedicalNotes', {
    careUnit,
    patientId,
    // EHRs may store whole seconds.
    start: new Date(Math.floor(requestedAt.getTime() / 1000) * 1000),
    ...(authorId === null ? {} : { authorId }),
    limit: mostNotes,
  });
  const [only, another] = found.filter((note) => isSame(note, plan));
  if (!only || another) return null;
  const isOthers = await isPlannedElsewhere(work, medicalNoteKindName, (it) => isSame(only, it as MedicalNotePlan));
  return isOthers ? null : only;
}

type Content = Pick<MedicalNotePlan, 'patientId' | 'authorId' | 'title' | 'text' | 'appointmentId'>;

function isSame(a: Content, b: Content): boolean {
  const facts = ({ patientId, authorId, title, text, appointmentId }: Content) =>
    JSON.stringify([patientId, authorId, title, text, appointmentId]);
  return facts(a) === facts(b);
}
