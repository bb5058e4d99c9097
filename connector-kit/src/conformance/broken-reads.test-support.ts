import { ConnectorError } from '../errors.ts';
import type { Patient, TimeSlot } from '../records.ts';
import { type CompleteConnector, type Defects, type Variant, withoutOffset } from './broken.test-support.ts';
import type { Subject } from './index.ts';

const hour = 60 * 60 * 1000;

/** Connectors that are wrong about patients, resources, healthcare services and time slots. Each with the check that must fail. */
export function readVariants(correct: Subject): readonly Variant[] {
  const other = correct.otherCareUnit ?? correct.careUnit;
  return [
    [
      'finds another patient by national number',
      'patients',
      'every identifier of a patient finds the same patient',
      (right) => ({
        findPatient: (it) => right.findPatient(it.type === 'emr_id' ? it : { type: 'emr_id', value: 'p-2' }),
      }),
    ],
    [
      'finds another patient, whatever it is asked for',
      'patients',
      'the id of a patient can be sent in a request',
      (right) => ({ findPatient: () => right.findPatient({ type: 'emr_id', value: 'p-2' }) }),
    ],
    [
      'throws for an unknown patient',
      'patients',
      'an unknown patient returns null',
      (right) => ({
        findPatient: async (it) => {
          const found = await right.findPatient(it);
          if (!found) throw new ConnectorError('patient_not_found', 'No such patient');
          return found;
        },
      }),
    ],
    [
      'returns a patient with an id that no request can contain',
      'patients',
      'the id of a patient can be sent in a request',
      (right) => ({ findPatient: async (it) => ({ ...((await right.findPatient(it)) as Patient), id: 'p-1 ' }) }),
    ],
    [
      'returns a birth date in another format',
      'patients',
      'a birth date is YYYY-MM-DD and a phone number is E.164, or null',
      (right) => ({
        findPatient: async (it) => ({ ...((await right.findPatient(it)) as Patient), birthDate: '12/12/1912' }),
      }),
    ],
    [
      'leaves out identifiers other than emr_id',
      'patients',
      'a patient lists all identifiers, emr_id first',
      (right) => ({
        findPatient: async (it) => {
          const found = (await right.findPatient(it)) as Patient;
          return { ...found, identifiers: found.identifiers.slice(0, 1) };
        },
      }),
    ],
    [
      'finds a number in one spelling only',
      'patients',
      'a number that the EHR has in another spelling finds its patient',
      (right) => ({
        findPatient: (it) => right.findPatient(it.type === 'emr_id' ? it : { type: 'emr_id', value: 'p-21' }),
      }),
    ],
    [
      'shows a number as staff have written it',
      'patients',
      'a number that the EHR has in another spelling finds its patient',
      (right) => ({
        findPatient: async (it) => {
          const found = (await right.findPatient(it)) as Patient;
          return { ...found, identifiers: found.identifiers.map((own) => ({ ...own, value: own.value.slice(2) })) };
        },
      }),
    ],
    [
      'keeps the trunk zero of a phone number',
      'patients',
      'a phone number is read as staff have written it',
      (right) => ({
        findPatient: async (it) => {
          const found = (await right.findPatient(it)) as Patient;
          return { ...found, phone: found.phone?.replace('+46', '+460') ?? null };
        },
      }),
    ],
    [
      'lists resources in reverse order',
      'resources',
      'lists each resource once, ordered by id',
      (right) => ({ listResources: async (unit) => (await right.listResources(unit)).toReversed() }),
    ],
    [
      'lists a resource with an id that no request can contain',
      'resources',
      'ids of resources can be sent in requests',
      (right) => ({
        listResources: async (unit) =>
          (await right.listResources(unit)).map((resource) => ({ ...resource, id: `${resource.id}\t` })),
      }),
    ],
    [
      'shows resources of another care unit',
      'resources',
      'a resource of another care unit is not found',
      (right) => ({
        findResource: async (unit, it) => (await right.findResource(unit, it)) ?? right.findResource(other, it),
      }),
    ],
    [
      'lists services in reverse order',
      'healthcare-services',
      'lists each healthcare service once, ordered by id, with a name',
      (right) => ({ listHealthcareServices: async (unit) => (await right.listHealthcareServices(unit)).toReversed() }),
    ],
    [
      'leaves out a service',
      'healthcare-services',
      'lists every healthcare service that a resource names',
      (right) => ({ listHealthcareServices: async (unit) => (await right.listHealthcareServices(unit)).slice(0, 1) }),
    ],
    [
      'lists slots in reverse order',
      'time-slots',
      'lists each slot once, ordered by start, resource and service',
      (right) => slots(right, (found) => found.toReversed()),
    ],
    [
      'reads times of slots without their offset',
      'time-slots',
      'reads the same slots in every time zone of the process',
      (right) =>
        slots(right, (found) =>
          found.map((slot) => ({ ...slot, start: withoutOffset(slot.start), end: withoutOffset(slot.end) })),
        ),
    ],
    [
      'lists slots twice',
      'time-slots',
      'lists each slot once, ordered by start, resource and service',
      (right) => slots(right, (found) => found.flatMap((slot) => [slot, slot])),
    ],
    [
      'lists slots partly outside the range',
      'time-slots',
      'lists only slots that lie wholly inside the range',
      (right) => ({
        listTimeSlots: (query) =>
          right.listTimeSlots({
            ...query,
            start: new Date(query.start.getTime() - hour),
            end: new Date(query.end.getTime() + hour),
          }),
      }),
    ],
    [
      'shows slots of another care unit',
      'time-slots',
      'leaves out slots of another care unit',
      (right) => ({
        listTimeSlots: async (query) => [
          ...(await right.listTimeSlots(query)),
          ...(await right.listTimeSlots({ ...query, careUnit: other })),
        ],
      }),
    ],
    [
      'lists slots from a stale cache',
      'time-slots',
      'a booked slot is no longer free for any service',
      (right) => {
        const seen = new Map<string, Promise<readonly TimeSlot[]>>();
        return {
          listTimeSlots: async ({ limit, start, end, resourceIds, ...query }) => {
            const key = JSON.stringify(query);
            const all = seen.get(key) ?? right.listTimeSlots({ ...query, ...window(), limit: 2_000 });
            seen.set(key, all);
            return (await all)
              .filter((slot) => slot.start >= start && slot.end <= end)
              .filter((slot) => resourceIds?.includes(slot.resourceId) ?? true)
              .slice(0, limit);
          },
        };
      },
    ],
    [
      'ignores the filter `freeing`',
      'time-slots',
      'a slot of an appointment named in freeing counts as free',
      (right) => ({ listTimeSlots: ({ freeing: _, ...query }) => right.listTimeSlots(query) }),
    ],
    [
      'uses the summer offset all year',
      'clock-changes',
      'lists every slot around a clock change once, at the right instant',
      (right) => {
        const changes = correct.clockChanges ?? [];
        const moved = ({ start, end, ...slot }: TimeSlot) => {
          const near = changes.some(({ at }) => start >= at && start.getTime() < at.getTime() + 60 * hour);
          const by = near ? hour : 0;
          return { ...slot, start: new Date(start.getTime() + by), end: new Date(end.getTime() + by) };
        };
        return slots(right, (found) => found.map(moved));
      },
    ],
  ];
}

/** Alters every list of time slots. */
function slots(right: CompleteConnector, alter: (found: readonly TimeSlot[]) => readonly TimeSlot[]): Defects {
  return { listTimeSlots: async (query) => alter(await right.listTimeSlots(query)) };
}

function window() {
  return { start: new Date(Date.now() + 20 * hour), end: new Date(Date.now() + 80 * 24 * hour) };
}
