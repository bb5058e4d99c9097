import { DOMParser, MIME_TYPE } from '@xmldom/xmldom';
import { BadMessage, elements, envelopeOf, type Out, out } from './messages.ts';

const message = 'urn:riv:clinicalprocess:healthcond:description:GetCareDocumentationResponder:2';
const core = 'urn:riv:clinicalprocess:healthcond:description:2';
const result = 'urn:riv:clinicalprocess:healthcond:description:2.1';

/** A journal note of GetCareDocumentation 2.1. */
export interface FakeNote {
  readonly documentId: string;
  readonly subject: string;
  readonly time: string;
  readonly title?: string;
  readonly text?: string;
  readonly author?: string;
  readonly careUnit?: string;
  readonly approved: boolean;
  readonly nullified?: boolean;
  /** Base64. */
  readonly picture?: string;
}

/** The answer to GetCareDocumentation. An empty patient is an invalid request. */
export function answerNotes(text: string, notes: readonly FakeNote[]): string {
  const document = new DOMParser().parseFromString(text, MIME_TYPE.XML_TEXT);
  const request = document.getElementsByTagNameNS(message, 'GetCareDocumentation')[0];
  if (!request) throw new BadMessage('no GetCareDocumentation');
  const parts = elements(request);
  const units = parts.filter((it) => it.localName === 'careUnitHSAid').map((it) => it.textContent);
  const patient = parts.find((it) => it.localName === 'patientId');
  const [id, type] = patient ? elements(patient) : [];
  if (id?.namespaceURI !== core || !/^[\d.]+$/.test(type?.textContent ?? '')) throw new BadMessage('no patient');
  const found = notes.filter((it) => it.subject === id.textContent && (!it.careUnit || units.includes(it.careUnit)));
  const content = [...found.map((it) => documentOf(it, type?.textContent ?? '')), resultOf()];
  return envelopeOf({ namespace: message, name: 'GetCareDocumentationResponse', content });
}

function resultOf(): Out {
  return { namespace: result, name: 'result', content: [out(result, 'resultCode', 'OK'), out(result, 'logId', '1')] };
}

function documentOf(note: FakeNote, oid: string): Out {
  const inCore = (name: string, content: readonly (Out | undefined)[]): Out => ({ namespace: core, name, content });
  const author = [
    out(core, 'authorTime', note.time),
    out(core, 'healthcareProfessionalHSAId', note.author),
    out(core, 'healthcareProfessionalCareUnitHSAId', note.careUnit),
  ];
  const picture = note.picture && [out(core, 'mediaType', 'image/png'), out(core, 'value', note.picture)];
  return {
    namespace: message,
    name: 'careDocumentation',
    content: [
      inCore('careDocumentationHeader', [
        out(core, 'documentId', note.documentId),
        out(core, 'sourceSystemHSAid', 'SE2321000000-SRC'),
        out(core, 'documentTime', note.time),
        inCore('patientId', [out(core, 'id', note.subject), out(core, 'type', oid)]),
        inCore('accountableHealthcareProfessional', author),
        out(core, 'approvedForPatient', note.approved),
        out(core, 'nullified', note.nullified),
      ]),
      inCore('careDocumentationBody', [
        inCore('clinicalDocumentNote', [
          out(core, 'clinicalDocumentNoteTitle', note.title),
          out(core, 'clinicalDocumentNoteText', note.text),
          picture ? inCore('multimediaEntry', picture) : undefined,
        ]),
      ]),
    ],
  };
}
