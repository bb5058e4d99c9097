import { capability, claimed } from './check.ts';
import { expectSame, expectThat, given } from './expect.ts';
import { appointmentsAt, book, change, freeSlots, moves, mustRead, needsBooking } from './steps.ts';
import type { ClockChange, Subject } from './subject.ts';

function fixtures({ clockChanges }: Subject): readonly ClockChange[] {
  return given(clockChanges?.length ? clockChanges : undefined, 'no clock change is given');
}

function slotsAround(subject: Subject, { resourceId, healthcareServiceId, start, end }: ClockChange) {
  return freeSlots(subject, {
    start,
    end,
    resourceIds: [resourceId],
    healthcareServiceIds: [healthcareServiceId],
  });
}

export const clockChanges = capability('clock-changes', (connector) => connector.listTimeSlots !== undefined, {
  'lists every slot around a clock change once, at the right instant': async (subject) => {
    for (const fixture of fixtures(subject)) {
      const slots = await slotsAround(subject, fixture);
      expectSame(
        slots.map((slot) => slot.start),
        fixture.slotStarts,
        `Starts of the slots around the clock change in ${fixture.name}`,
      );
    }
  },

  'books slots before and after a clock change at the right instant': async (subject) => {
    needsBooking(subject);
    for (const fixture of fixtures(subject)) {
      const slots = await slotsAround(subject, fixture);
      const before = slots.findLast(({ start }) => start < fixture.at);
      const after = slots.filter(({ start }) => start >= fixture.at).slice(0, 2);
      const tried = [before, ...after].filter((slot) => slot !== undefined);
      expectThat(tried.length > 1, `No slots before and after the clock change in ${fixture.name}`);
      for (const slot of tried) {
        const { id } = await book(subject, { slot });
        const now = await mustRead(subject, id);
        expectSame([now.start, now.end], [slot.start, slot.end], `Time of an appointment booked in ${fixture.name}`);
        const there = await appointmentsAt(subject, slot);
        expectSame(
          there.map((it) => it.id),
          [id],
          `Appointments listed for the time booked in ${fixture.name}`,
        );
      }
    }
  },

  'moves an appointment across a clock change': claimed([moves], async (subject) => {
    needsBooking(subject);
    for (const fixture of fixtures(subject)) {
      const slots = await slotsAround(subject, fixture);
      const before = given(
        slots.findLast(({ start }) => start < fixture.at),
        'there is no slot before the clock change',
      );
      const after = given(
        slots.find(({ start }) => start >= fixture.at),
        'there is no slot after the clock change',
      );
      const { id } = await book(subject, { slot: before });
      const moved = await change(subject, {
        kind: 'update',
        appointmentId: id,
        time: { start: after.start, end: after.end },
      });
      const now = await mustRead(subject, moved.id);
      expectSame([now.start, now.end], [after.start, after.end], `Time after a move in ${fixture.name}`);
    }
  }),
});
