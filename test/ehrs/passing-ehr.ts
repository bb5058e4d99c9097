import {
  type Appointment,
  type AppointmentChange,
  type Capabilities,
  type Connector,
  ConnectorError,
  type PatientDetails,
  type TimeSlotQuery,
} from '@crossward/connector-kit';

const type = 'se_personal_number';

interface Seen {
  /** Patient ids that the connector got, and what was told about them. */
  readonly patients: string[];
  readonly details: (PatientDetails | undefined)[];
  readonly searches: TimeSlotQuery[];
}

type Needs = Pick<Capabilities, 'patientDetails' | 'slotsByPatient'>;

/**
 * Makes a connector that looks up patients by Swedish number one that does not: its patient ids are the numbers, with their
 * type. An id of any other form makes it throw an error that is a bug.
 */
export function withPassingPatients(connector: Connector, seen: Seen, needs: Needs = {}): Connector {
  const { findPatient, capabilities, ...operations } = connector;
  if (!findPatient) throw new Error('The EHR looks up no patients');
  const inner = operations as Connector;

  async function inside(id: string): Promise<string> {
    seen.patients.push(id);
    const number = /^se_personal_number:([0-9]{12})$/.exec(id)?.[1];
    if (number === undefined) throw new Error('The id of the patient is no number');
    return (await findPatient?.({ type, value: number }))?.id ?? 'nobody';
  }

  async function outside(id: string): Promise<string> {
    const patient = await findPatient?.({ type: 'emr_id', value: id });
    const number = patient?.identifiers.find((it) => it.type === type)?.value;
    if (number === undefined) throw new Error('The patient has no number');
    return `${type}:${number}`;
  }

  async function opened<Query extends { readonly patientId?: string | undefined }>(query: Query): Promise<Query> {
    return query.patientId === undefined ? query : { ...query, patientId: await inside(query.patientId) };
  }
  const shown = async <Record extends { readonly patientId: string }>(it: Record): Promise<Record> => ({
    ...it,
    patientId: await outside(it.patientId),
  });
  const allShown = <Record extends { readonly patientId: string }>(records: readonly Record[] = []) =>
    Promise.all(records.map(shown));
  const orNull = async <Record extends { readonly patientId: string }>(it: Record | null | undefined) =>
    it ? shown(it) : null;

  async function openedChange(change: AppointmentChange): Promise<AppointmentChange> {
    if (change.kind !== 'create') return change;
    const { patientDetails, ...creation } = change;
    seen.details.push(patientDetails);
    const patientId = await inside(creation.patientId);
    if (patientId === 'nobody') throw new ConnectorError('rejected', 'The EHR refuses the number');
    return { ...creation, patientId };
  }

  return {
    ...inner,
    capabilities: {
      ...capabilities,
      ...needs,
      patientIdentifierTypes: ['emr_id', type],
      passesThrough: [type],
    },
    async listTimeSlots(query) {
      seen.searches.push(query);
      if (query.patientId !== undefined) await inside(query.patientId);
      return (await inner.listTimeSlots?.(query)) ?? [];
    },
    listAppointments: async (query) => allShown(await inner.listAppointments?.(await opened(query))),
    findAppointments: async (careUnit, ids) => allShown(await inner.findAppointments?.(careUnit, ids)),
    async changeAppointments(write) {
      const changes = await Promise.all(write.changes.map(openedChange));
      return allShown(await inner.changeAppointments?.({ ...write, changes }));
    },
    async findOperation(careUnit, operationId, changes) {
      const found: readonly Appointment[] | null | undefined = await inner.findOperation?.(
        careUnit,
        operationId,
        changes && (await Promise.all(changes.map(openedChange))),
      );
      return found ? allShown(found) : null;
    },
    async listAppointmentChanges(query) {
      const page = await inner.listAppointmentChanges?.(query);
      if (!page) throw new Error('The EHR tells no changes');
      const changes = page.changes.map(async (it) => ({ ...it, appointment: await shown(it.appointment) }));
      return { ...page, changes: await Promise.all(changes) };
    },
    listMedicalNotes: async (query) => allShown(await inner.listMedicalNotes?.(await opened(query))),
    findMedicalNote: async (careUnit, patientId, id) =>
      orNull(await inner.findMedicalNote?.(careUnit, await inside(patientId), id)),
    createMedicalNote: async (write) => shown(await required(inner.createMedicalNote?.(await opened(write)))),
    findMedicalNoteWrite: async (careUnit, id) => orNull(await inner.findMedicalNoteWrite?.(careUnit, id)),
    listDocuments: async (query) => allShown(await inner.listDocuments?.(await opened(query))),
    findDocument: async (careUnit, patientId, id) =>
      orNull(await inner.findDocument?.(careUnit, await inside(patientId), id)),
    readDocument: async (careUnit, patientId, id) =>
      (await inner.readDocument?.(careUnit, await inside(patientId), id)) ?? null,
    createDocument: async (write) => shown(await required(inner.createDocument?.(await opened(write)))),
    findDocumentWrite: async (careUnit, id) => orNull(await inner.findDocumentWrite?.(careUnit, id)),
  };
}

async function required<Result>(result: Promise<Result> | undefined): Promise<Result> {
  if (!result) throw new Error('The EHR does not support the operation');
  return result;
}
