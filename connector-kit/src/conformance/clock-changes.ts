import { capability } from './check.ts';
import { expectSame, expectThat, given } from './expect.ts';
import { book, change, freeSlots, mustRead, needs, takers } from './scene.ts';
import type { ClockChange, Subject } from './subject.ts';

function fixtures({ clockChanges }: Subject): readonly ClockChange[] {
  return given(clockChanges?.length ? clockChanges : undefined, 'no day on which the clock is changed is named');
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
  'neither lose nor double nor shift a slot': async (subject) => {
    for (const fixture of fixtures(subject)) {
      const slots = await slotsAround(subject, fixture);
      expectSame(
        slots.map((slot) => slot.start),
        fixture.slotStarts,
        `Starts of the slots around the clock change in ${fixture.name}`,
      );
    }
  },

  'leave every slot before, at and after them to be booked at its instant': async (subject) => {
    needs(subject, 'create');
    for (const fixture of fixtures(subject)) {
      const slots = await slotsAround(subject, fixture);
      const before = slots.findLast(({ start }) => start < fixture.at);
      const after = slots.filter(({ start }) => start >= fixture.at).slice(0, 2);
      const tried = [before, ...after].filter((slot) => slot !== undefined);
      expectThat(tried.length > 1, `There are no slots on both sides of the clock change in ${fixture.name}`);
      for (const slot of tried) {
        const { id } = await book(subject, { slot });
        const now = await mustRead(subject, id);
        expectSame([now.start, now.end], [slot.start, slot.end], `Time of a booking around ${fixture.name}`);
        const there = await takers(subject, slot);
        expectSame(
          there.map((it) => it.id),
          [id],
          `Appointments listed for the time booked around ${fixture.name}`,
        );
      }
    }
  },

  'are crossed by a move': async (subject) => {
    needs(subject, 'create', 'update');
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
      expectSame([now.start, now.end], [after.start, after.end], `Time of a move over ${fixture.name}`);
    }
  },
});
