import type { CrosswardClient } from '../../client/src/index.ts';
import type { Mailbox } from './mailbox.ts';
import { print } from './print.ts';

const dayMilliseconds = 24 * 60 * 60 * 1000;

/** Sends the requests of the walk-through. Leaves no appointment behind. */
export async function walk(client: CrosswardClient, mailbox: Mailbox): Promise<void> {
  await bookWithCode(client, mailbox);
  await cancelWithCode(client, mailbox);
}

type CareUnit = ReturnType<CrosswardClient['careUnit']>;

async function bookWithCode(client: CrosswardClient, mailbox: Mailbox): Promise<void> {
  const sodermalm = client.careUnit('sandbox-se', 'sodermalm');
  print('step', 'Find free times a week from now.');
  const [first, second] = await freeSlots(sodermalm, 2);

  print('step', 'Book the first one. This EHR requires a code, so the time is held until the patient confirms.');
  const held = await sodermalm.appointments.create(creation(first));

  print('step', 'The patient gets a message. That of the demo is in its mailbox.');
  const code = await mailbox.codeFor(held.id);

  print('step', 'Send the code: the appointment is booked.');
  const booked = await sodermalm.appointments.confirm(held.id, code);

  print(
    'step',
    'Move it to the second time. If somebody had just booked that one, this appointment would stay as it is.',
  );
  await sodermalm.appointments.update(booked.id, { start: second.start, end: second.end });

  print('step', 'Cancel it. This EHR requires no code for that.');
  await sodermalm.appointments.cancel(booked.id, { comment: 'End of the walk-through' });
}

async function cancelWithCode(client: CrosswardClient, mailbox: Mailbox): Promise<void> {
  const riverside = client.careUnit('sandbox-uk', 'riverside');
  print('step', 'Another EHR, with the same requests. It books without a code.');
  const [slot] = await freeSlots(riverside, 1);
  const booked = await riverside.appointments.create(creation(slot));

  print(
    'step',
    'Cancelling takes two steps here. The response has an id of its own, and the appointment stays booked.',
  );
  const cancellation = await riverside.appointments.cancel(booked.id, { comment: 'End of the walk-through' });
  const code = await mailbox.codeFor(cancellation.id);

  print('step', 'Send the code to the new id.');
  await riverside.appointments.confirm(cancellation.id, code);

  print('step', 'Now the appointment is cancelled.');
  await riverside.appointments.get(booked.id);
}

interface Slot {
  readonly start: string;
  readonly end: string;
  readonly resource_id: string;
  readonly healthcare_service_id: string;
}

/** The next free times from a week on. */
async function freeSlots(careUnit: CareUnit, count: 1): Promise<[Slot]>;
async function freeSlots(careUnit: CareUnit, count: 2): Promise<[Slot, Slot]>;
async function freeSlots(careUnit: CareUnit, count: number): Promise<Slot[]> {
  const start = new Date(Date.now() + 7 * dayMilliseconds).toISOString();
  const end = new Date(Date.now() + 35 * dayMilliseconds).toISOString();
  const filter = { resource_id: ['r-1'], healthcare_service_id: ['consultation'], limit: count };
  const { items } = await careUnit.timeSlots.list({ start, end, ...filter }).firstPage();
  if (items.length < count) throw new Error('No time is free in the next weeks.');
  return [...items];
}

function creation({ start, end, resource_id, healthcare_service_id }: Slot) {
  return { patient_id: 'p-3', resource_id, healthcare_service_id, start_time: start, end_time: end };
}
