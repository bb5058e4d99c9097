import type { AppointmentPosition, TimeSlotPosition } from '../connector.ts';
import type { Appointment, TimeSlot } from '../records.ts';
import { capability, NotChecked } from './check.ts';
import { appointmentKeys, expectSame, expectThat, inOrder, operation, slotKeys } from './expect.ts';
import { book, consecutiveSlots, type freeSlot, freeSlots, patientId, windowOf } from './steps.ts';
import type { Subject } from './subject.ts';

type Slot = Awaited<ReturnType<typeof freeSlot>>;

/** Reads a list page by page. Each page starts after the last entry of the previous one. */
async function pages<Item>(
  limit: number,
  most: number,
  page: (after: Item | undefined, limit: number) => Promise<readonly Item[]>,
): Promise<Item[]> {
  const all: Item[] = [];
  while (all.length < most) {
    const next = await page(all.at(-1), limit);
    expectThat(next.length <= limit, `A page of at most ${limit} has ${next.length} entries`);
    all.push(...next);
    if (next.length < limit) break;
  }
  return all;
}

/** All pages are of one range, which begins at the same moment however long they take. */
function slotPage(subject: Subject) {
  const range = windowOf(subject);
  return (after: TimeSlotPosition | undefined, limit: number) =>
    freeSlots(subject, { ...range, after, limit, resourceIds: undefined, healthcareServiceIds: undefined });
}

/** Booked appointments only: earlier runs leave many cancelled ones at the same times. */
async function appointmentPage(subject: Subject) {
  const mine = { patientId: await patientId(subject), range: windowOf(subject), states: ['booked'] } as const;
  const { connector, careUnit } = subject;
  return (after: AppointmentPosition | undefined, limit: number) =>
    operation(connector, 'listAppointments')({ careUnit, ...mine, after, limit });
}

async function bookSome(subject: Subject): Promise<Appointment[]> {
  const run = (await consecutiveSlots(subject, 5)) as Slot[];
  const made: Appointment[] = [];
  // Not in time order, so that a list in creation order fails.
  for (const index of [3, 0, 4, 1, 2]) {
    const slot = run[index];
    if (slot) made.push(await book(subject, { slot }));
  }
  return made;
}

export const paging = capability(
  'paging',
  ({ listTimeSlots, listAppointments }) => listTimeSlots !== undefined || listAppointments !== undefined,
  {
    'lists each time slot once for any page size': async (subject) => {
      const most = 24;
      const page = slotPage(subject);
      const whole = (await page(undefined, most)).map((slot) => slotKeys(slot).join(' '));
      if (whole.length < 3) throw new NotChecked('the EHR has fewer than three free slots');
      for (const limit of [1, 7, 20]) {
        const found = await pages<TimeSlot>(limit, most, page);
        const keys = found.map((slot) => slotKeys(slot).join(' ')).slice(0, most);
        expectSame(keys.length, whole.length, `Slots in pages of ${limit}`);
        expectThat(
          keys.every((key, index) => key === whole[index]),
          `Pages of ${limit} contain other slots than one large page`,
        );
      }
    },

    'continues after a slot that was booked between pages': async (subject) => {
      const page = slotPage(subject);
      const [first, second] = await page(undefined, 2);
      if (!first || !second) throw new NotChecked('the EHR has fewer than two free slots');
      await book(subject, { slot: first });
      const [next] = await page(first, 1);
      expectThat(next !== undefined, 'No slot follows a slot that was booked between pages');
      expectThat(inOrder([first, next], slotKeys), 'The next page starts before the end of the previous page');
      const gone = next.resourceId === first.resourceId && next.start.getTime() === first.start.getTime();
      expectThat(!gone, 'A slot that was booked between pages is listed');
    },

    'lists each appointment once, ordered by start and id': async (subject) => {
      const made = await bookSome(subject);
      const page = await appointmentPage(subject);
      const whole = await page(undefined, 500);
      expectThat(inOrder(whole, appointmentKeys), 'The appointments are not in the order of start, id');
      for (const { id } of made)
        expectThat(
          whole.some((it) => it.id === id),
          'A created appointment is missing',
        );
      for (const limit of [1, 2, 3]) {
        const found = await pages<Appointment>(limit, 500, page);
        expectSame(
          found.map(({ id }) => id),
          whole.map(({ id }) => id),
          `Ids in pages of ${limit}`,
        );
      }
    },

    'continues after a position that no appointment has': async (subject) => {
      const made = await bookSome(subject);
      const page = await appointmentPage(subject);
      const middle = made.toSorted((a, b) => a.start.getTime() - b.start.getTime())[2];
      if (!middle) throw new Error('Expected five appointments');
      const [next] = await page({ start: new Date(middle.start.getTime() + 1000), id: '' }, 1);
      expectSame(next?.start, middle.end, 'Start of the first appointment after the position');
    },
  },
);
