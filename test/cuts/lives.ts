import { setTimeout as sleep } from 'node:timers/promises';
import { oslo, riverside, type Slot, sodermalm } from '../requests/bookings.ts';
import type { Callers, Settled } from './caller.ts';
import { draftsEhr } from './drafts-ehr.ts';
import type { Kind } from './history.ts';
import { pick, type Random } from './random.ts';
import type { World } from './world.ts';

const drafts = `/api/emrs/${draftsEhr}/care-units/sodermalm`;
const careUnits = [oslo, sodermalm, riverside, drafts];
const dayMilliseconds = 24 * 60 * 60 * 1000;
/** How long a caller waits for a code. */
const messageMilliseconds = 30_000;

interface Appointment {
  readonly id: string;
  readonly status: string;
  readonly start: string;
  readonly comment: string | null;
  readonly confirmation: object | null;
}

interface Message {
  readonly appointment_id: string;
  readonly text: string;
}

/** What callers do, from the first write about a thing to the last. Each ends when an outcome stays unknown. */
export async function createLives(world: World, { settle, read }: Callers, random: Random) {
  let things = 0;
  const name = (what: string) => `${what} ${++things}`;
  const slots = new Map<string, Slot[]>();
  for (const careUnit of careUnits) slots.set(careUnit, await freeSlots(careUnit));

  async function freeSlots(careUnit: string): Promise<Slot[]> {
    const from = Date.now() + 7 * dayMilliseconds;
    const query = new URLSearchParams({
      start: new Date(from).toISOString(),
      end: new Date(from + 50 * dayMilliseconds).toISOString(),
      healthcare_service_id: 'consultation',
      limit: '100',
    });
    const found: Slot[] = [];
    for (let cursor: string | null = ''; cursor !== null && found.length < 600; ) {
      if (cursor !== '') query.set('cursor', cursor);
      const page: { timeslots: Slot[]; next_cursor: string | null } | undefined = await read(
        `${careUnit}/timeslots?${query}`,
      );
      found.push(...(page?.timeslots ?? []));
      cursor = page?.next_cursor ?? null;
    }
    return found;
  }

  /** A time that nobody else asks for. */
  function takeSlot(careUnit: string): Slot {
    const list = slots.get(careUnit) ?? [];
    const [slot] = list.splice(Math.floor(random() * list.length), 1);
    if (!slot) throw new Error('No free slots are left');
    return slot;
  }

  const isDone = ({ told }: Settled) => told === 'done';
  const idOf = ({ ids }: Settled) => ids[0] ?? '';
  const instant = (text: string) => new Date(text).toISOString();
  const isThere = (found: Appointment | undefined, condition: (appointment: Appointment) => boolean) =>
    found && condition(found) ? [found.id] : undefined;
  const get = (careUnit: string, id: string) => read<Appointment>(`${careUnit}/appointments/${id}`);

  async function book(kind: Kind, careUnit: string): Promise<{ readonly subject: string; readonly booked: Settled }> {
    const slot = takeSlot(careUnit);
    const subject = name(kind);
    const request = {
      method: 'POST' as const,
      path: `${careUnit}/appointments`,
      body: {
        patient_id: `p-${1 + Math.floor(random() * 18)}`,
        resource_id: slot.resource_id,
        healthcare_service_id: slot.healthcare_service_id,
        start_time: slot.start,
        end_time: slot.end,
        comment: subject,
      },
    };
    // A hold without a confirmation is one that the gateway releases: nobody has its code.
    const isWished = ({ comment, status, confirmation }: Appointment) =>
      comment === subject && (status === 'booked' || confirmation !== null);
    const look = async () => {
      const query = new URLSearchParams({ resource_id: slot.resource_id, start: slot.start, end: slot.end });
      const statuses = '&status=booked&status=awaiting_confirmation';
      const page = await read<{ appointments: Appointment[] }>(`${careUnit}/appointments?${query}${statuses}`);
      const found = page?.appointments.filter(isWished).map(({ id }) => id) ?? [];
      return found.length > 0 ? found : undefined;
    };
    const start = instant(slot.start);
    return {
      subject,
      booked: await settle({ kind, operation: 'create_appointment', subjects: [subject], request, start, look }),
    };
  }

  interface About {
    readonly careUnit: string;
    readonly subject: string;
    readonly id: string;
    readonly confirmationId?: string | undefined;
  }

  function change(
    kind: Kind,
    { careUnit, subject, id, confirmationId }: About,
    body: object,
    seen?: (found: Appointment) => boolean,
    start?: string,
  ) {
    const request = { method: 'PATCH' as const, path: `${careUnit}/appointments/${id}`, body };
    const look = seen && (async () => isThere(await get(careUnit, id), seen));
    return settle({
      kind,
      operation: 'change_appointment',
      subjects: [subject],
      request,
      confirmationId,
      start,
      ...(look ? { look } : {}),
    });
  }

  const cancel = (about: About, kind: Kind = 'cancellation') =>
    change(kind, about, { status: 'cancelled' }, ({ status }) => status === 'cancelled');

  async function plain(): Promise<void> {
    const { subject, booked } = await book('booking', oslo);
    if (!isDone(booked)) return;
    const about = { careUnit: oslo, subject, id: idOf(booked) };
    for (let moves = 0; moves < 2 && random() < 0.5; moves++) {
      const { start, end, resource_id } = takeSlot(oslo);
      const at = instant(start);
      const moved = await change(
        'move',
        about,
        { start, end, resource_id },
        (found) => instant(found.start) === at,
        at,
      );
      if (moved.told === 'unknown') return;
    }
    if (random() < 0.6) await cancel(about);
  }

  async function bulk(): Promise<void> {
    const made = [];
    for (let count = 0; count < 3; count++) {
      const { subject, booked } = await book('booking', oslo);
      if (isDone(booked)) made.push({ subject, id: idOf(booked) });
    }
    if (made.length === 0) return;
    const ids = made.map(({ id }) => id);
    const look = async () => {
      const found = await Promise.all(ids.map((id) => get(oslo, id)));
      return found.every((it) => it?.status === 'cancelled') ? ids : undefined;
    };
    const request = { method: 'PATCH' as const, path: `${oslo}/appointments`, body: { ids, status: 'cancelled' } };
    const subjects = made.map(({ subject }) => subject);
    await settle({ kind: 'bulk cancellation', operation: 'change_appointments', subjects, request, look });
  }

  /** Enters codes: perhaps wrong ones, perhaps after another code was sent, perhaps the right one. */
  async function enterCodes(
    about: About,
    kind: 'confirmation' | 'second step',
    seen: (found: Appointment) => boolean,
  ): Promise<void> {
    let sent = 1;
    for (let wrong = 0; wrong < 2 && random() < 0.4; wrong++) {
      const entered = await change('wrong code', about, { confirmation: { code: '00000' } });
      if (entered.told === 'unknown') return;
    }
    if (random() < 0.3) {
      await world.database.query(
        `UPDATE confirmations SET last_code_sent_at = last_code_sent_at - interval '31 seconds' WHERE id = $1`,
        [about.confirmationId],
      );
      const request = { method: 'POST' as const, path: `${about.careUnit}/appointments/${about.id}/confirmation` };
      const resent = await settle({
        kind: 'resend',
        operation: 'resend_confirmation',
        subjects: [about.subject],
        request,
        confirmationId: about.confirmationId,
      });
      if (resent.told === 'unknown') return;
      if (isDone(resent)) sent++;
    }
    if (random() < 0.2) return;
    const code = await codeFor(about.id, sent);
    if (code !== undefined) await change(kind, about, { confirmation: { code } }, seen);
  }

  async function byCode(kind: 'booking by code' | 'draft', careUnit: string): Promise<void> {
    const { subject, booked } = await book(kind, careUnit);
    const confirmationId = booked.confirmationId;
    if (!isDone(booked) || confirmationId === undefined) return;
    const about = { careUnit, subject, id: idOf(booked), confirmationId };
    if (random() < 0.2) await cancel(about);
    else await enterCodes(about, 'confirmation', ({ status }) => status === 'booked');
  }

  async function twoSteps(): Promise<void> {
    const { subject, booked } = await book('booking', riverside);
    if (!isDone(booked)) return;
    const original = { careUnit: riverside, subject, id: idOf(booked) };
    const first = await change('first step', original, { status: 'cancelled' });
    const confirmationId = first.confirmationId;
    if (!isDone(first) || confirmationId === undefined) return;
    await enterCodes(
      { ...original, id: idOf(first), confirmationId },
      'second step',
      ({ status }) => status === 'cancelled',
    );
  }

  /** One shared read for all callers that wait for codes. */
  let mailbox: Promise<readonly Message[]> | undefined;
  function readMailbox(): Promise<readonly Message[]> {
    mailbox ??= sleep(300)
      .then(() => read<{ messages: Message[] }>('/demo/messages', { accept: 'application/json' }))
      .then((it) => it?.messages ?? [])
      .finally(() => {
        mailbox = undefined;
      });
    return mailbox;
  }

  async function codeFor(id: string, sent: number): Promise<string | undefined> {
    const until = Date.now() + messageMilliseconds;
    while (Date.now() < until) {
      const about = (await readMailbox()).filter(({ appointment_id }) => appointment_id === id);
      if (about.length >= sent) return /(?<!\d)\d{6}(?!\d)/.exec(about[0]?.text ?? '')?.[0];
    }
    return undefined;
  }

  const records = {
    note: {
      operation: 'create_medical_note',
      path: `${oslo}/patients/emr_id%3Ap-3/medical-notes`,
      field: 'medical_notes',
      body: (subject: string): object => ({ text: subject }),
      nameOf: ({ text }: Record<string, unknown>) => text,
    },
    document: {
      operation: 'create_document',
      path: `${oslo}/patients/emr_id%3Ap-3/documents`,
      field: 'documents',
      body: (subject: string): object => ({
        title: subject,
        content_type: 'text/plain',
        content: Buffer.from(subject).toString('base64'),
      }),
      nameOf: ({ title }: Record<string, unknown>) => title,
    },
    schedule: {
      operation: 'create_schedule',
      path: `${oslo}/resources/r-1/schedules`,
      field: 'schedules',
      body: (subject: string): object => ({
        start_time: subject,
        end_time: subject.replace('T20:00', 'T20:30'),
        slot_minutes: 30,
        healthcare_service_ids: ['consultation'],
      }),
      nameOf: ({ start }: Record<string, unknown>) => String(start).slice(0, 19),
    },
    endpoint: {
      operation: 'create_webhook_endpoint',
      path: '/api/webhook-endpoints',
      field: 'webhook_endpoints',
      body: (subject: string): object => ({ url: subject }),
      nameOf: ({ url }: Record<string, unknown>) => url,
    },
  };

  async function record(kind: keyof typeof records, subject: string): Promise<Settled> {
    const { operation, path, field, body, nameOf } = records[kind];
    const look = async () => {
      const ids: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const page: Record<string, unknown> = (await read(`${path}?limit=100${query}`)) ?? {};
        const listed = (page[field] ?? []) as readonly (Record<string, unknown> & { id: string })[];
        ids.push(...listed.filter((it) => nameOf(it) === subject).map(({ id }) => id));
        cursor = (page.next_cursor as string | undefined) ?? null;
      }
      return ids.length > 0 ? ids : undefined;
    };
    const request = { method: 'POST' as const, path, body: body(subject) };
    return settle({ kind, operation, subjects: [subject], request, look });
  }

  let schedules = 0;
  /** A resource can have a hundred. */
  async function schedule(): Promise<void> {
    if (schedules >= 60) return;
    const day = new Date(Date.now() + (80 + ++schedules) * dayMilliseconds).toISOString().slice(0, 10);
    await record('schedule', `${day}T20:00:00`);
  }

  let isEndpointBusy = false;
  /** One at a time, because a client has few. */
  async function endpoint(): Promise<void> {
    if (isEndpointBusy) return;
    isEndpointBusy = true;
    const subject = `${world.receiver.url}&name=${name('endpoint').replace(' ', '-')}`;
    const made = await record('endpoint', subject);
    if (isDone(made)) {
      const path = `/api/webhook-endpoints/${idOf(made)}`;
      const look = async () => ((await read(path)) ? undefined : [idOf(made)]);
      await settle({
        kind: 'endpoint deletion',
        operation: 'delete_webhook_endpoint',
        subjects: [subject],
        request: { method: 'DELETE', path },
        ids: [idOf(made)],
        look,
      });
    }
    isEndpointBusy = false;
  }

  const lives: readonly (() => Promise<unknown>)[] = [
    plain,
    plain,
    bulk,
    () => byCode('booking by code', sodermalm),
    () => byCode('booking by code', sodermalm),
    () => byCode('draft', drafts),
    () => byCode('draft', drafts),
    twoSteps,
    twoSteps,
    () => record('note', name('note')),
    () => record('document', name('document')),
    schedule,
    endpoint,
  ];
  /** Lives one life. */
  return () => pick(random, lives)();
}
