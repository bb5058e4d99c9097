import {
  type CareUnit,
  type ConnectorContext,
  ConnectorError,
  type MedicalNote,
  type MedicalNoteOperations,
  type MedicalNoteQuery,
} from '@crossward/connector-kit';
import { instantsOf } from './local-time.ts';
import { isSameSubject, patientIdOf, subjectOf } from './patient-id.ts';
import { facilitiesOf, type RivtaSettings } from './settings.ts';
import { call } from './soap.ts';
import { isTrue } from './timeslot.ts';
import { childOf, childrenOf, leaves, textOf, type XmlElement } from './xml.ts';

const operation = 'GetCareDocumentation';
const namespace = 'urn:riv:clinicalprocess:healthcond:description:GetCareDocumentationResponder:2';
const core = 'urn:riv:clinicalprocess:healthcond:description:2';
const extension = 'urn:riv:clinicalprocess:healthcond:description:2.1';

/** Which OID says what a number is. Those of reserve numbers are the regions'. */
const oids = { personal: '1.2.752.129.2.1.3.1', coordination: '1.2.752.129.2.1.3.3' } as const;

type Notes = Pick<MedicalNoteOperations, 'listMedicalNotes' | 'findMedicalNote'>;

/** Journal notes, read-only: there is no national contract for writing them. None if the settings name no source of them. */
export function medicalNotes(context: ConnectorContext<RivtaSettings>): Notes | Record<string, never> {
  const { notes } = context.settings;
  if (!notes) return {};
  const facilities = facilitiesOf(context);

  async function read(careUnit: CareUnit, patientId: string): Promise<readonly MedicalNote[]> {
    const subject = subjectOf(patientId);
    const facility = facilities.get(careUnit.id);
    if (!notes || subject === undefined || !facility) return [];
    const answer = await call(context.http, {
      url: notes.url,
      namespace,
      operation,
      logicalAddress: notes.logical_address,
      content: [
        ...leaves(namespace, [['careUnitHSAid', facility.hsaId]]),
        {
          namespace,
          name: 'patientId',
          content: leaves(core, [
            ['id', subject],
            ['type', oidOf(subject, notes.reserve_number_oid)],
          ]),
        },
      ],
      reads: true,
    });
    const result = childOf(answer, extension, 'result');
    if (result && textOf(result, extension, 'resultCode') === 'ERROR') {
      throw new ConnectorError('rejected', 'The source of journal notes refused the question');
    }
    return childrenOf(answer, namespace, 'careDocumentation').flatMap((it) =>
      noteOf(it, { careUnit, subject, facility: facility.hsaId, showsAll: notes.not_approved === 'show' }),
    );
  }

  return {
    async listMedicalNotes({ careUnit, patientId, start, end, authorId, after, limit }: MedicalNoteQuery) {
      const found = await read(careUnit, patientId);
      return found
        .filter((it) => start === undefined || it.createdAt >= start)
        .filter((it) => end === undefined || it.createdAt < end)
        .filter((it) => authorId === undefined || it.authorId === authorId)
        .filter((it) => after === undefined || newestFirst(after, it) < 0)
        .sort(newestFirst)
        .slice(0, limit);
    },
    findMedicalNote: async (careUnit, patientId, noteId) =>
      (await read(careUnit, patientId)).find(({ id }) => id === noteId) ?? null,
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

interface Reading {
  readonly careUnit: CareUnit;
  readonly subject: string;
  /** HSA id of the unit. */
  readonly facility: string;
  /** Also notes that are not approved for the patient. */
  readonly showsAll: boolean;
}

/** None for a note that is nullified, hidden, without text, of another unit, or of another patient. */
function noteOf(document: XmlElement, { careUnit, subject, facility, showsAll }: Reading): readonly MedicalNote[] {
  const header = childOf(document, core, 'careDocumentationHeader');
  const body = childOf(document, core, 'careDocumentationBody');
  const note = body && childOf(body, core, 'clinicalDocumentNote');
  const author = header && childOf(header, core, 'accountableHealthcareProfessional');
  const patient = header && childOf(header, core, 'patientId');
  const source = header && textOf(header, core, 'sourceSystemHSAid');
  const documentId = header && textOf(header, core, 'documentId');
  const text = note && textOf(note, core, 'clinicalDocumentNoteText');
  if (!header || !note || !author || !patient || !source || !documentId || text === undefined) return [];
  if (!isSameSubject(textOf(patient, core, 'id'), subject) || isTrue(textOf(header, core, 'nullified'))) return [];
  if (!showsAll && !isTrue(textOf(header, core, 'approvedForPatient'))) return [];
  if ((textOf(author, core, 'healthcareProfessionalCareUnitHSAId') ?? facility) !== facility) return [];
  const [createdAt] = instantsOf(
    textOf(header, core, 'documentTime') ?? textOf(author, core, 'authorTime') ?? '',
    careUnit.timeZone,
  );
  if (!createdAt) throw new ConnectorError('rejected', 'A journal note has a time that does not exist');
  return [
    {
      // The id of a document is unique in its source system only.
      id: `${source}/${documentId}`,
      patientId: patientIdOf(subject),
      createdAt,
      authorId: textOf(author, core, 'healthcareProfessionalHSAId') ?? null,
      title: textOf(note, core, 'clinicalDocumentNoteTitle') ?? textOf(header, core, 'documentTitle') ?? null,
      text,
      appointmentId: null,
    },
  ];
}

type Position = Pick<MedicalNote, 'createdAt' | 'id'>;

function newestFirst(a: Position, b: Position): number {
  return b.createdAt.getTime() - a.createdAt.getTime() || (a.id > b.id ? -1 : Number(a.id < b.id));
}
