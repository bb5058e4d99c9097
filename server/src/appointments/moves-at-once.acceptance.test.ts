import { afterAll, expect, test } from 'vitest';
import { wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { book, freeSlots, oslo, type Slot } from '../../../test/requests/bookings.ts';
import { careUnitOf } from '../../../test/requests/codes.ts';
import { eventsAbout } from '../../../test/requests/events.ts';

/** Moves that have read the appointment wait until so many have. */
let atOnce = 1;
let waiting: (() => void)[] = [];

const held = wrapConnector((connector) => ({
  ...connector,
  async changeAppointments(write) {
    if (write.changes[0]?.kind === 'update') {
      await new Promise<void>((go) => {
        waiting.push(go);
        if (waiting.length === atOnce) for (const each of waiting.splice(0)) each();
      });
    }
    return (await connector.changeAppointments?.(write)) ?? [];
  },
}));

const gateway = await startGateway({ connectors: [held], intervals: { events: 100 } });
afterAll(() => gateway.close());

const placeOf = ({ start, end, resource_id }: Readonly<Record<string, unknown>>) => ({ start, end, resource_id });

test.each([2, 4, 8])('the events of %i moves at once each name what the appointment was before', async (count) => {
  const { change } = careUnitOf(gateway, oslo);
  const slots = (await freeSlots(gateway, { limit: 200 })).filter((_, index) => index % 2 === 0).slice(0, count + 1);
  const [first, ...others] = slots as [Slot, ...Slot[]];
  const { id } = await book(gateway, { slot: first });
  atOnce = count;
  waiting = [];
  const answers = await Promise.all(others.map(({ start, end }) => change(id, { start, end })));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));

  const [booked, ...moved] = await eventsAbout(gateway, id, count + 1);
  expect(booked?.type).toBe('appointment.booked');
  let before = booked;
  for (const event of moved) {
    expect(event).toMatchObject({ type: 'appointment.updated', data: { changed: ['start', 'end'] } });
    expect(event.data.previous).toEqual(before && placeOf(before.data));
    before = event;
  }
  expect(moved.map(({ data }) => data.start).sort()).toEqual(others.map(({ start }) => start).sort());
});
