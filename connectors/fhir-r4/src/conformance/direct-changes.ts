import {
  type ConfiguredCareUnit,
  type ConnectorContext,
  ConnectorError,
  type DirectChanges,
  type TimeSlot,
} from '@crossward/connector-kit';
import { changeAppointment, versionOf } from '../booking/write/appointment.ts';
import { isConflict } from '../booking/write/outcomes.ts';
import {
  type FhirAppointment,
  type FhirDocumentReference,
  type FhirResource,
  type FhirSlot,
  localReference,
  referenceTo,
} from '../fhir.ts';
import { attendanceStatuses, slotsOf, withComment } from '../mappers/appointment.ts';
import { readGroupId } from '../mappers/group.ts';
import { freedSlot, slotState } from '../mappers/slot.ts';
import { canChangeAppointments, deletionSource, readServerFacts } from '../server/capability-statement.ts';
import { connect, type FhirConnection, signIn } from '../server/connection.ts';
import type { FhirSettings } from '../settings.ts';
import { searchSlots } from '../slots/search.ts';
import { searchesDeleted } from '../staff-changes/deletions.ts';

/** How often a Slot is read again after a concurrent change. */
const mostAttempts = 20;

/**
 * Changes by the EHR's staff: plain reads and updates, whatever the booking mode. An Appointment is changed once, so that
 * it fails if somebody else changes it at the same time.
 */
export async function fhirDirectChanges(context: ConnectorContext<FhirSettings>): Promise<DirectChanges> {
  const client = await signIn(context);
  const facts = await readServerFacts(client);
  const ehr = connect(context, client, facts);
  const writesSlots = facts.can('Slot', 'update');
  const { mode = 'auto' } = context.settings.booking ?? {};
  // Such a server decides itself what takes a time: an Appointment that is merely created does not.
  const keepsOwnSlots = mode === 'operations' || mode === 'create';
  const source = deletionSource(facts);
  const tellsDeletions = source === 'history' || (source === 'search' && (await searchesDeleted(client)));

  async function change(appointmentId: string, changed: (appointment: FhirAppointment) => FhirAppointment) {
    const before = await mustRead<FhirAppointment>(ehr, `Appointment/${readGroupId(appointmentId).id}`);
    await changeAppointment(ehr, before, changed(before));
    return before;
  }
  const appointmentChanges: DirectChanges = {
    async cancel({ id }) {
      const before = await change(id, (it) => ({ ...it, status: 'cancelled' }));
      // If clients cannot write Slots, the server frees them.
      if (writesSlots) await freeAll(ehr, slotsOf(before));
    },
    async attend({ id }, attendance) {
      await change(id, (it) => ({ ...it, status: attendanceStatuses[attendance] }));
    },
    async comment({ id }, text) {
      await change(id, (it) => withComment(it, ehr.dialect, text));
    },
  };
  const deletion: DirectChanges = {
    async delete({ id }) {
      const before = await mustRead<FhirAppointment>(ehr, `Appointment/${readGroupId(id).id}`);
      const removed = await client.remove(referenceTo(before));
      if (!removed.ok) throw removed.rejection ?? new ConnectorError('rejected', 'The EHR rejected the deletion');
      if (writesSlots) await freeAll(ehr, slotsOf(before));
    },
  };
  const noteChanges: DirectChanges = {
    changeNote: ({ id }, text) =>
      changeDocument(ehr, id, (it) => ({
        ...it,
        content: [{ attachment: { contentType: 'text/plain', data: Buffer.from(text).toString('base64') } }],
      })),
    retractNote: ({ id }) => changeDocument(ehr, id, (it) => ({ ...it, status: 'entered-in-error' })),
  };
  const documentChanges: DirectChanges = {
    changeDocument: ({ id }, title) =>
      changeDocument(ehr, id, ({ content = [], ...it }) => ({
        ...it,
        description: title,
        content: content.map((entry) => ({ ...entry, attachment: { ...entry.attachment, title } })),
      })),
    retractDocument: ({ id }) => changeDocument(ehr, id, (it) => ({ ...it, status: 'entered-in-error' })),
  };
  /** Takes the Slots of a time, or none of them. */
  async function takeSlots(timeSlot: TimeSlot): Promise<readonly string[]> {
    const taken: string[] = [];
    try {
      for (const slot of await slotsAt(ehr, context.careUnits, timeSlot)) {
        await changeSlot(ehr, slot, (it) => ({ ...freedSlot(it), status: 'busy' }));
        taken.push(slot);
      }
    } catch (error) {
      await freeAll(ehr, taken);
      throw error;
    }
    return taken;
  }
  const slotChanges: DirectChanges = {
    async take(timeSlot) {
      const taken = await takeSlots(timeSlot);
      return () => freeAll(ehr, taken);
    },
  };
  const moving: DirectChanges = {
    async move({ id }, to) {
      const taken = await takeSlots(to);
      try {
        const slot = taken.map((reference) => ({ reference }));
        const time = { start: to.start.toISOString(), end: to.end.toISOString() };
        await freeAll(ehr, slotsOf(await change(id, (it) => ({ ...it, ...time, slot }))));
      } catch (error) {
        await freeAll(ehr, taken);
        throw error;
      }
    },
  };
  const overbooking: DirectChanges = {
    async overbook({ id }, patientId) {
      const {
        id: _id,
        meta: _meta,
        identifier: _identifier,
        ...copy
      } = await mustRead<FhirAppointment>(ehr, `Appointment/${readGroupId(id).id}`);
      const participant = copy.participant?.map((it) =>
        localReference(it.actor)?.startsWith('Patient/') ? { ...it, actor: { reference: `Patient/${patientId}` } } : it,
      );
      const made = await client.create({ ...copy, participant } as FhirAppointment);
      if (!made.ok || made.reference === undefined) return null;
      const second = made.reference.replace(/^Appointment\//, '');
      return async () => {
        const before = await change(second, (it) => ({ ...it, status: 'cancelled' }));
        await freeAll(ehr, slotsOf(before));
      };
    },
  };
  return {
    ...(canChangeAppointments(facts) ? appointmentChanges : {}),
    ...(facts.can('Appointment', 'delete') && tellsDeletions ? deletion : {}),
    ...(writesSlots ? slotChanges : {}),
    ...(writesSlots && canChangeAppointments(facts) ? moving : {}),
    ...(writesSlots && canChangeAppointments(facts) && !keepsOwnSlots ? overbooking : {}),
    ...(facts.can('DocumentReference', 'update') ? { ...noteChanges, ...documentChanges } : {}),
  };
}

async function changeDocument(
  ehr: FhirConnection,
  id: string,
  changed: (document: FhirDocumentReference) => FhirDocumentReference,
): Promise<void> {
  const before = await mustRead<FhirDocumentReference>(ehr, `DocumentReference/${id}`);
  const response = await ehr.client.update(changed(before), { ifMatch: versionOf(before) });
  if (!response.ok) throw response.rejection ?? new ConnectorError('rejected', 'The EHR rejected the change');
}

/** The references of all available Slots of the resource that start in the time. */
async function slotsAt(
  ehr: FhirConnection,
  careUnits: readonly ConfiguredCareUnit[],
  { resourceId, start, end }: TimeSlot,
): Promise<string[]> {
  for (const careUnit of careUnits) {
    const directory = await ehr.directory.of(careUnit);
    const schedules = directory.schedulesOf([resourceId]);
    if (schedules.length === 0) continue;
    const range = { start, before: end, statuses: undefined, few: true };
    const slots = await searchSlots(ehr, directory, schedules, range);
    const available = slots.filter((slot) => slotState(slot, ehr.client.clock.now()) !== 'taken');
    if (available.length > 0) return available.map(referenceTo);
  }
  throw new ConnectorError('time_slot_unavailable', 'The EHR has no available Slot at this time');
}

async function freeAll(ehr: FhirConnection, slots: readonly string[]): Promise<void> {
  for (const slot of slots) await changeSlot(ehr, slot, freedSlot);
}

/** Updates a Slot under the version that was read. Starts again after a concurrent change. */
async function changeSlot(
  ehr: FhirConnection,
  reference: string,
  changed: (slot: FhirSlot) => FhirSlot,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const before = await mustRead<FhirSlot>(ehr, reference);
    const response = await ehr.client.update(changed(before), { ifMatch: versionOf(before) });
    if (response.ok) return;
    if (isConflict(response.status) && attempt < mostAttempts) continue;
    throw response.rejection ?? new ConnectorError('rejected', `The EHR responded with ${response.status}`);
  }
}

async function mustRead<R extends FhirResource>({ client }: FhirConnection, reference: string): Promise<R> {
  const resource = await client.read<R>(reference);
  if (resource) return resource;
  throw new ConnectorError('rejected', `The EHR does not have the ${reference.split('/')[0]}`);
}
