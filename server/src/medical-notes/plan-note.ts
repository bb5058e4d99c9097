import type { Static } from 'typebox';
import { callersAppointmentIds, requireAppointmentOf } from '../api/appointment-references.ts';
import { requireAuthor } from '../api/authors.ts';
import type { Access } from '../api/endpoint.ts';
import type { ReadHeader } from '../identifiers/index.ts';
import { inBody } from '../problems/places.ts';
import type { WriteServices } from '../writes/write-kind.ts';
import type { medicalNoteCreationSchema } from './contract.ts';
import type { MedicalNotePlan } from './plan.ts';

/** Looks up what the body of a new note names. */
export async function planNote(
  context: Access & { readonly services: WriteServices },
  patientId: string,
  body: Static<typeof medicalNoteCreationSchema>,
  readHeader: ReadHeader,
): Promise<MedicalNotePlan> {
  const { author_id, appointment_id, title, text } = body;
  const author = author_id === undefined ? undefined : await requireAuthor(context, author_id, readHeader);
  const appointmentId =
    appointment_id === undefined
      ? null
      : await requireAppointmentOf(context, patientId, appointment_id, inBody('appointment_id'));
  return {
    requestedAt: new Date(),
    patientId,
    authorId: author?.id ?? null,
    title: title || null,
    text,
    appointmentId,
    callersAppointmentId: appointmentId && (await callersAppointmentIds(context, [appointmentId]))(appointmentId),
  };
}
