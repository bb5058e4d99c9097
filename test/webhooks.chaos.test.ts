import { expect, onTestFinished, test } from 'vitest';
import { backport } from '../server/src/fhir-face/subscriptions/urls.ts';
import { bookingOf, changeOf, type childClient } from './processes/child-client.ts';
import { startKillableGateway } from './processes/killable-gateway.ts';
import { oslo, type Slot } from './requests/bookings.ts';
import { eventually } from './requests/codes.ts';
import type { EventPage } from './requests/events.ts';
import { startReceiver, status, verify } from './requests/webhook-receiver.ts';

const kills = 4;

test('gateways that are killed while they book and deliver lose no event and no order', async () => {
  const { client, receiver, endpoint, kill, restart, query } = await startKillableGateway({
    timeout_ms: 1_000,
    // More than a busy machine needs: a delivery that is given up would count as lost.
    retry_seconds: Array.from({ length: 50 }, (_, attempt) => (attempt < 2 ? 0 : 1)),
  });
  // Every third request is received, but not acknowledged.
  let requests = 0;
  receiver.behave((response) => {
    requests++;
    if (requests % 3 === 0) response.destroy();
    else status(200)(response);
  });

  const subscribed = await startSubscription(client);

  const timeslots = await client.freeSlots(60);
  /** Books a time directly in the EHR. */
  async function bookByStaff(id: string, slot: Slot | undefined): Promise<void> {
    await query(
      `INSERT INTO sandbox.appointments (emr, id, care_unit_id, patient_id, resource_id, healthcare_service_id, starts_at, ends_at, state)
       VALUES ('sandbox-no', $1, 'oslo-sentrum', 'p-2', $2, 'consultation', $3, $4, 'booked')`,
      [id, slot?.resource_id, slot?.start, slot?.end],
    );
    byStaff.push(id);
  }
  const byStaff: string[] = [];
  let isOver = false;
  const booked: string[] = [];
  const load = Promise.all(
    [0, 1, 2, 3].map(async (worker) => {
      for (let index = worker; !isOver && index < timeslots.length - kills; index += 4) {
        const slot = timeslots[index];
        if (!slot) return;
        const { id } = await client.write(bookingOf(slot, `book ${index}`));
        await client.write(changeOf(id, `cancel ${index}`, { status: 'cancelled' }));
        booked.push(id);
      }
    }),
  );
  // Changes made before the first reading of the EHR are not reported.
  await eventually(async () =>
    expect(await query(`SELECT FROM ehr_change_feeds WHERE emr = 'sandbox-no' AND cursor IS NOT NULL`)).toHaveLength(1),
  );
  for (let count = 1; count <= kills; count++) {
    const before = receiver.received.length;
    await eventually(() => expect(receiver.received.length).toBeGreaterThan(before + 2));
    await kill();
    await bookByStaff(`by-staff-${count}`, timeslots.at(-count));
    await restart();
  }
  isOver = true;
  await load;

  const wanted = ['appointment.booked', 'appointment.cancelled'];
  await eventually(() => {
    const byAppointment = Map.groupBy(receiver.accepted(), ({ data }) => data.appointment_id);
    for (const id of booked)
      expect(
        byAppointment.get(id)?.map(({ type }) => type),
        id,
      ).toEqual(wanted);
    for (const id of byStaff)
      expect(
        byAppointment.get(id)?.map(({ type }) => type),
        id,
      ).toEqual(['appointment.booked']);
  });
  for (const request of receiver.received) verify(request, endpoint.secret);
  const polled = (await client.send<EventPage>({ method: 'GET', path: '/api/events?limit=500' })).body.events;
  expect(polled).toHaveLength(2 * booked.length + byStaff.length);
  expect(booked.length).toBeGreaterThan(kills);
  // A Subscription has the same events, numbered without a gap.
  await eventually(() => {
    const numbers = [...new Set(subscribed.numbers())].toSorted((a, b) => a - b);
    expect(numbers).toEqual(polled.map((_, index) => index + 1));
  });
});

/** A Subscription to all appointments of the care unit, whose receiver closes every third connection. */
async function startSubscription(client: ReturnType<typeof childClient>) {
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  const channel = {
    type: 'rest-hook',
    endpoint: receiver.url,
    payload: 'application/fhir+json',
    _payload: { extension: [{ url: backport.content, valueCode: 'id-only' }] },
  };
  const wanted = {
    resourceType: 'Subscription',
    status: 'requested',
    reason: 'chaos',
    criteria: 'Appointment',
    channel,
  };
  const path = `${oslo}/fhir-r4/Subscription`;
  const headers = { 'content-type': 'application/fhir+json' };
  await client.send({ method: 'POST', path, headers, body: wanted });
  await eventually(() => expect(receiver.received.map((it) => it.status)).toEqual([204]));
  let requests = 0;
  receiver.behave((response) => {
    requests++;
    if (requests % 3 === 0) response.destroy();
    else status(200)(response);
  });
  const numberOf = ({ body }: { readonly body: string }) =>
    Number(/"event-number","valueString":"(\d+)"/.exec(body)?.[1] ?? 0);
  return {
    /** Of the events that were accepted. */
    numbers: () => receiver.received.filter((it) => it.status === 200).map(numberOf),
  };
}
