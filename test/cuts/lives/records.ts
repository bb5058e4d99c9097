import { oslo } from '../../requests/bookings.ts';
import type { Settled } from '../caller.ts';
import type { Kind } from '../history.ts';
import type { Living } from './living.ts';

interface RecordKind {
  readonly kind: Kind;
  readonly operation: string;
  readonly path: string;
  /** Of the list. */
  readonly field: string;
  body(name: string): object;
  nameOf(listed: Readonly<Record<string, unknown>>): unknown;
}

const note: RecordKind = {
  kind: 'note',
  operation: 'create_medical_note',
  path: `${oslo}/patients/emr_id%3Ap-3/medical-notes`,
  field: 'medical_notes',
  body: (name) => ({ text: name }),
  nameOf: ({ text }) => text,
};
const document: RecordKind = {
  kind: 'document',
  operation: 'create_document',
  path: `${oslo}/patients/emr_id%3Ap-3/documents`,
  field: 'documents',
  body: (name) => ({ title: name, content_type: 'text/plain', content: Buffer.from(name).toString('base64') }),
  nameOf: ({ title }) => title,
};

/** Creates a record, and looks for it by its name in the list. */
export function createRecord({ callers }: Living, of: RecordKind, name: string): Promise<Settled> {
  const { settle, readAll } = callers;
  const look = async () => {
    const listed = await readAll<{ readonly id: string }>(of.path, of.field);
    const ids = listed.filter((it) => of.nameOf(it) === name).map(({ id }) => id);
    return ids.length > 0 ? ids : undefined;
  };
  const request = { method: 'POST' as const, path: of.path, body: of.body(name) };
  return settle({ kind: of.kind, operation: of.operation, subjects: [name], request, look });
}

export function recordLives(living: Living) {
  return {
    note: () => createRecord(living, note, living.name('note')),
    document: () => createRecord(living, document, living.name('document')),
  };
}
