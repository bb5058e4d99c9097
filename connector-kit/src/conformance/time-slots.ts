import { capability, NotChecked } from './check.ts';
import { expectSame, expectThat, inOrder, operation, slotKeys } from './expect.ts';
import { foreignResource } from './resources.ts';
import { book, freeRun, freeSlot, freeSlots, isFree, windowOf } from './scene.ts';

export const timeSlots = capability('time-slots', (connector) => connector.listTimeSlots !== undefined, {
  'come by start, resource and service, each once': async (subject) => {
    const slots = await freeSlots(subject, { resourceIds: undefined, healthcareServiceIds: undefined });
    if (slots.length === 0) throw new NotChecked('the EHR has no free slot in the range');
    expectThat(inOrder(slots, slotKeys), 'The slots are not in the order of start, resource id, service id');
    const different = new Set(slots.map((slot) => slotKeys(slot).join(' ')));
    expectSame(different.size, slots.length, 'Slots that differ, of those listed');
    for (const slot of slots) expectThat(slot.start < slot.end, 'A slot does not end after its start');
  },

  'lie wholly inside the range': async (subject) => {
    const [first, second, third] = (await freeRun(subject, 3)) as [Slot, Slot, Slot];
    const query = { resourceIds: [first.resourceId], healthcareServiceIds: [first.healthcareServiceId] };
    const inside = await freeSlots(subject, {
      ...query,
      start: new Date(first.start.getTime() + 1000),
      end: new Date(third.end.getTime() - 1000),
    });
    expectSame(
      inside.map(({ start }) => start),
      [second.start],
      'Starts of the slots in a range that cuts the first and the last of three',
    );
    const exact = await freeSlots(subject, { ...query, start: second.start, end: second.end });
    expectSame(
      exact.map(({ start }) => start),
      [second.start],
      'Starts of the slots in a range that is exactly one',
    );
  },

  'that have begun are left out': async (subject) => {
    const now = Date.now();
    const slots = await freeSlots(subject, {
      start: new Date(now - 7 * 24 * 60 * 60 * 1000),
      end: windowOf(subject).end,
      resourceIds: undefined,
      healthcareServiceIds: undefined,
    });
    // A minute for clocks that differ.
    const begun = slots.filter(({ start }) => start.getTime() < now - 60_000);
    expectSame(begun.length, 0, 'Slots that have begun');
  },

  'of some resources and services are only theirs': async (subject) => {
    const { resourceId, healthcareServiceId } = await freeSlot(subject);
    const slots = await freeSlots(subject, {
      resourceIds: [resourceId],
      healthcareServiceIds: [healthcareServiceId],
    });
    expectThat(slots.length > 0, 'No slot of a resource and service that have one');
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

  'of another care unit do not show': async (subject) => {
    const { id } = await foreignResource(subject);
    const all = await freeSlots(subject, { resourceIds: undefined, healthcareServiceIds: undefined });
    expectThat(!all.some(({ resourceId }) => resourceId === id), 'A slot of another care unit shows');
    const asked = await freeSlots(subject, { resourceIds: [id], healthcareServiceIds: undefined });
    expectSame(asked.length, 0, 'Slots of a resource of another care unit, asked for by its id');
  },

  'are gone once booked, for every service': async (subject) => {
    const slot = await freeSlot(subject);
    await book(subject, { slot });
    expectThat(!(await isFree(subject, slot)), 'A slot that has been booked is shown as free');
    const others = await freeSlots(subject, {
      start: slot.start,
      end: slot.end,
      resourceIds: [slot.resourceId],
      healthcareServiceIds: undefined,
    });
    expectSame(others.length, 0, 'Free slots of the resource while it is booked');
  },

  'count as free when their appointment is about to give them up': async (subject) => {
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
      limit: 10,
    });
    expectSame(
      found.map(({ start, end }) => [start, end]),
      [[slot.start, slot.end]],
      'Slots while their appointment is named in freeing',
    );
  },
});

type Slot = Awaited<ReturnType<typeof freeSlot>>;
