import { isModality } from '../records.ts';
import { type Claim, capability, claimed, NotChecked } from './check.ts';
import { expectSame, expectThat, given, inOrder, operation, slotKeys } from './expect.ts';
import { inEveryTimeZone } from './process-time-zone.ts';
import { foreignResource } from './resources.ts';
import { book, consecutiveSlots, freeSlot, freeSlots, isFree, patientId, windowOf } from './steps.ts';

const day = 24 * 60 * 60 * 1000;
const week = 7 * day;
/** More than any EHR has for one resource in two months. */
const everySlot = 10_000;

const searchesByPatient: Claim = ({ connector }) => connector.capabilities.slotsByPatient !== undefined;

export const timeSlots = capability('time-slots', (connector) => connector.listTimeSlots !== undefined, {
  'lists each slot once, ordered by start, resource and service': async (subject) => {
    const slots = await freeSlots(subject, { resourceIds: undefined, healthcareServiceIds: undefined });
    if (slots.length === 0) throw new NotChecked('the EHR has no free slot');
    expectThat(inOrder(slots, slotKeys), 'The slots are not in the order of start, resource id, service id');
    const different = new Set(slots.map((slot) => slotKeys(slot).join(' ')));
    expectSame(different.size, slots.length, 'Number of distinct slots');
    for (const slot of slots) {
      expectThat(slot.start < slot.end, 'A slot does not end after its start');
      expectThat(isModality(slot.modality), 'The modality of a slot is none of the port');
    }
  },

  'lists only slots that lie wholly inside the range': async (subject) => {
    const [first, second, third] = (await consecutiveSlots(subject, 3)) as [Slot, Slot, Slot];
    const query = { resourceIds: [first.resourceId], healthcareServiceIds: [first.healthcareServiceId] };
    const inside = await freeSlots(subject, {
      ...query,
      start: new Date(first.start.getTime() + 1000),
      end: new Date(third.end.getTime() - 1000),
    });
    expectSame(
      inside.map(({ start }) => start),
      [second.start],
      'Starts of the slots in a range that cuts the first and last of three slots',
    );
    const exact = await freeSlots(subject, { ...query, start: second.start, end: second.end });
    expectSame(
      exact.map(({ start }) => start),
      [second.start],
      'Starts of the slots in a range equal to one slot',
    );
  },

  'lists in a long range what it lists in its last part': async (subject) => {
    const { start, end } = windowOf(subject);
    const all = await freeSlots(subject, { limit: everySlot });
    const last = given(all.at(-1), 'the EHR has no free slot');
    const lastDay = { start: new Date(last.start.getTime() - day), end: last.end, resourceIds: [last.resourceId] };
    const isThere = (await freeSlots(subject, lastDay)).some((it) => it.start.getTime() === last.start.getTime());
    expectThat(isThere, 'A slot that ends with the range is missing');
    const whole = new Set(all.map(({ start: at }) => at.getTime()));
    const length = Math.min(week, (end.getTime() - start.getTime()) / 3);
    for (let from = end.getTime() - length; from > start.getTime(); from -= length) {
      const part = await freeSlots(subject, { start: new Date(from), end: new Date(from + length), limit: everySlot });
      for (const { start: at } of part) {
        expectThat(whole.has(at.getTime()), 'A slot of the last weeks is missing in a list of the whole time');
      }
      if (part.length > 0) return;
    }
    throw new NotChecked('the EHR has no free slot');
  },

  'reads the same slots in every time zone of the process': async (subject) => {
    const first = await freeSlot(subject);
    const range = { start: new Date(first.start.getTime() - day), end: new Date(first.end.getTime() + day) };
    const [expected, ...others] = await inEveryTimeZone(subject, async (there) =>
      (await freeSlots(there, range)).map(({ start, end }) => [start, end]),
    );
    for (const { zone, result } of others) {
      expectSame(result, expected?.result, `Slots read by a process in ${zone}, compared with UTC`);
    }
  },

  'leaves out slots that have started': async (subject) => {
    const now = Date.now();
    const slots = await freeSlots(subject, {
      start: new Date(now - 7 * 24 * 60 * 60 * 1000),
      end: windowOf(subject).end,
      resourceIds: undefined,
      healthcareServiceIds: undefined,
    });
    // Allow a minute of clock skew.
    const started = slots.filter(({ start }) => start.getTime() < now - 60_000);
    expectSame(started.length, 0, 'Slots that have started');
  },

  'filters slots by resource and healthcare service': async (subject) => {
    const { resourceId, healthcareServiceId } = await freeSlot(subject);
    const slots = await freeSlots(subject, {
      resourceIds: [resourceId],
      healthcareServiceIds: [healthcareServiceId],
    });
    expectThat(slots.length > 0, 'No slot is listed for a resource and service with a free slot');
    for (const slot of slots) {
      expectSame(
        [slot.resourceId, slot.healthcareServiceId],
        [resourceId, healthcareServiceId],
        'Resource and service of a slot',
      );
    }
    const none = await freeSlots(subject, { resourceIds: ['no-such-resource'], healthcareServiceIds: undefined });
    expectSame(none.length, 0, 'Slots of a resource that does not exist');
  },

  'leaves out slots of another care unit': async (subject) => {
    const { id } = await foreignResource(subject);
    const all = await freeSlots(subject, { resourceIds: undefined, healthcareServiceIds: undefined });
    expectThat(!all.some(({ resourceId }) => resourceId === id), 'A slot of another care unit is listed');
    const asked = await freeSlots(subject, { resourceIds: [id], healthcareServiceIds: undefined });
    expectSame(asked.length, 0, 'Slots of a resource of another care unit');
  },

  'a booked slot is no longer free for any service': async (subject) => {
    const slot = await freeSlot(subject);
    await book(subject, { slot });
    expectThat(!(await isFree(subject, slot)), 'A booked slot is listed as free');
    const others = await freeSlots(subject, {
      start: slot.start,
      end: slot.end,
      resourceIds: [slot.resourceId],
      healthcareServiceIds: undefined,
    });
    expectSame(others.length, 0, 'Free slots of the resource at a booked time');
  },

  'finds the slots of one patient, and slots of no patient where it need not be one': claimed(
    [searchesByPatient],
    async (subject) => {
      const ofPatient = await freeSlots(subject);
      expectThat(ofPatient.length > 0, 'No slot is listed for the known patient');
      if (subject.connector.capabilities.slotsByPatient === 'required') return;
      const ofNobody = await freeSlots(subject, { patientId: undefined });
      expectThat(ofNobody.length > 0, 'No slot is listed if no patient is named');
    },
  ),

  'a slot of an appointment named in freeing counts as free': async (subject) => {
    const slot = await freeSlot(subject);
    const { id } = await book(subject, { slot });
    const { connector, careUnit } = subject;
    const found = await operation(
      connector,
      'listTimeSlots',
    )({
      careUnit,
      start: slot.start,
      end: slot.end,
      resourceIds: [slot.resourceId],
      healthcareServiceIds: [slot.healthcareServiceId],
      freeing: [id],
      forAppointment: id,
      ...(connector.capabilities.slotsByPatient ? { patientId: await patientId(subject) } : {}),
      limit: 10,
    });
    expectSame(
      found.map(({ start, end }) => [start, end]),
      [[slot.start, slot.end]],
      'Slots when their appointment is named in freeing',
    );
  },
});

type Slot = Awaited<ReturnType<typeof freeSlot>>;
