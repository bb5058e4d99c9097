import { ConnectorError, type MedicalNote, type MedicalNoteOperations } from '@crossward/connector-kit';
import { counted, newestPage, type Reading } from '@crossward/connector-kit/rest';
import { childOf, childrenOf, leaves, textOf, type XmlElement } from '@crossward/connector-kit/soap';
import Type from 'typebox';
import type { At, Ehr } from './ehr.ts';
import { isSameSubject, patientIdOf, subjectOf } from './ids.ts';
import { reachedAt, readLocalTime } from './local-time.ts';
import { readTexts } from './records.ts';
import { call } from './soap.ts';
import { isTrue } from './timeslot.ts';

const operation = 'GetCareDocumentation';
const namespace = 'urn:riv:clinicalprocess:healthcond:description:GetCareDocumentationResponder:2';
const core = 'urn:riv:clinicalprocess:healthcond:description:2';
const extension = 'urn:riv:clinicalprocess:healthcond:description:2.1';

/** Which OID says what a number is. Those of reserve numbers are the regions'. */
const oids = { personal: '1.2.752.129.2.1.3.1', coordination: '1.2.752.129.2.1.3.3' } as const;

const text = Type.String();
const optional = Type.Optional(text);
const headerSchema = Type.Object({
  documentId: text,
  sourceSystemHSAid: text,
  documentTitle: optional,
  documentTime: optional,
  approvedForPatient: optional,
  nullified: optional,
});
const authorSchema = Type.Object({
  authorTime: optional,
  healthcareProfessionalHSAId: optional,
  healthcareProfessionalCareUnitHSAId: optional,
});
const patientSchema = Type.Object({ id: text });
const noteSchema = Type.Object({ clinicalDocumentNoteTitle: optional, clinicalDocumentNoteText: optional });

type Notes = Pick<MedicalNoteOperations, 'listMedicalNotes' | 'findMedicalNote'>;

/** Journal notes, read-only: there is no national contract for writing them. None if the settings name no source of them. */
export function medicalNotes(ehr: Ehr): Notes | Record<string, never> {
  const { notes } = ehr.settings;
  if (!notes) return {};

  /** The notes of the patient, and the ids of those that cannot be read. */
  async function read(at: At, patientId: string) {
    const subject = subjectOf(patientId);
    if (!notes || subject === undefined) return { notes: [], unreadable: new Set<string>() };
    const patient = leaves(core, { id: subject, type: oidOf(subject, notes.reserve_number_oid) });
    const answer = await call(at.client.http, {
      ...{ url: notes.url, namespace, operation, logicalAddress: notes.logical_address, reads: true },
      content: [
        ...leaves(namespace, { careUnitHSAid: at.unit.hsaId }),
        { namespace, name: 'patientId', content: patient },
      ],
    });
    const result = childOf(answer, extension, 'result');
    if (result && textOf(result, extension, 'resultCode') === 'ERROR') {
      throw new ConnectorError('rejected', 'The source of journal notes refused the question');
    }
    const found: MedicalNote[] = [];
    const unreadable = new Set<string>();
    for (const document of childrenOf(answer, namespace, 'careDocumentation')) {
      const [id, reading] = [idIn(document), noteOf(at, subject, document)];
      const note = counted(at, 'careDocumentation', reading, id);
      if (note) found.push(note);
      if (reading.path !== undefined && id !== undefined) unreadable.add(id);
    }
    return { notes: found, unreadable };
  }

  return {
    async listMedicalNotes(query) {
      const { careUnit, patientId, start, end, authorId } = query;
      const wanted = (await read(ehr.at(careUnit), patientId)).notes
        .filter((it) => start === undefined || it.createdAt >= start)
        .filter((it) => end === undefined || it.createdAt < end)
        .filter((it) => authorId === undefined || it.authorId === authorId);
      return newestPage(wanted, query);
    },
    async findMedicalNote(careUnit, patientId, noteId) {
      const { notes: found, unreadable } = await read(ehr.at(careUnit), patientId);
      if (unreadable.has(noteId)) throw new ConnectorError('rejected', 'The EHR has the note, and it cannot be read');
      return found.find(({ id }) => id === noteId) ?? null;
    },
  };
}

/** By the form: a birth date, one with the day plus 60, or neither. */
function oidOf(subject: string, ofReserveNumbers: string | undefined): string {
  const [, day] = /^(?:18|19|20)[0-9]{2}(?:0[0-9]|1[0-2])([0-9]{2})[0-9]{4}$/.exec(subject) ?? [];
  if (day !== undefined && Number(day) <= 31) return oids.personal;
  if (day !== undefined && Number(day) >= 60) return oids.coordination;
  if (ofReserveNumbers !== undefined) return ofReserveNumbers;
  throw new ConnectorError('unsupported', 'Notes of reserve numbers need the setting reserve_number_oid');
}

/**
 * A note, or where it cannot be read. None for one that is nullified, hidden, without text, of another unit, or of another patient.
 */
function noteOf(
  { careUnit, settings, unit: { hsaId } }: At,
  subject: string,
  document: XmlElement,
): Reading<MedicalNote | null> {
  const header = childOf(document, core, 'careDocumentationHeader');
  const body = childOf(document, core, 'careDocumentationBody');
  const note = body && childOf(body, core, 'clinicalDocumentNote');
  const author = header && childOf(header, core, 'accountableHealthcareProfessional');
  const patient = header && childOf(header, core, 'patientId');
  if (!header || !author || !patient) return { path: '/careDocumentationHeader' };
  const [heading, writer, of, content] = [
    readTexts(header, core, headerSchema),
    readTexts(author, core, authorSchema),
    readTexts(patient, core, patientSchema),
    note ? readTexts(note, core, noteSchema) : { record: {} },
  ];
  const path = heading.path ?? writer.path ?? of.path ?? content.path;
  if (!heading.record || !writer.record || !of.record || !content.record) return { path: path ?? '/' };
  const { clinicalDocumentNoteText: text, clinicalDocumentNoteTitle } = content.record;
  const { sourceSystemHSAid, documentId, documentTitle = null, nullified, approvedForPatient } = heading.record;
  const { authorTime, healthcareProfessionalHSAId = null } = writer.record;
  const { healthcareProfessionalCareUnitHSAId: writtenAt = hsaId } = writer.record;
  const isShown = isSameSubject(of.record.id, subject) && !isTrue(nullified) && writtenAt === hsaId;
  const isApproved = isTrue(approvedForPatient) || settings.notes?.not_approved === 'show';
  if (text === undefined || !isShown || !isApproved) return { record: null };
  const local = readLocalTime(heading.record.documentTime ?? authorTime);
  const [createdAt] = local ? reachedAt(local, careUnit.timeZone) : [];
  if (!createdAt) return { path: '/careDocumentationHeader/documentTime' };
  return {
    record: {
      // The id of a document is unique in its source system only.
      id: noteIdOf(sourceSystemHSAid, documentId),
      patientId: patientIdOf(subject),
      createdAt,
      authorId: healthcareProfessionalHSAId,
      title: clinicalDocumentNoteTitle ?? documentTitle,
      text,
      appointmentId: null,
    },
  };
}

function noteIdOf(source: string, documentId: string): string {
  return `${source}/${documentId}`;
}

/** The id of a note whatever else of it cannot be read. */
function idIn(document: XmlElement): string | undefined {
  const header = childOf(document, core, 'careDocumentationHeader');
  const [source, id] = ['sourceSystemHSAid', 'documentId'].map((name) => header && textOf(header, core, name));
  return source && id ? noteIdOf(source, id) : undefined;
}
